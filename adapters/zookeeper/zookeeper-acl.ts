import { ConfigError } from "../../src/errors.js";
import type { ZooKeeperAcl } from "./client/zookeeper-wire.js";

export const OPEN_TO_ALL: readonly ZooKeeperAcl[] = [{ permissions: "cdrwa", scheme: "world", id: "anyone" }];

/** What the text `creator` stands for: everything for the identities of whoever makes the node, and nothing for others. */
const CREATOR: readonly ZooKeeperAcl[] = [{ permissions: "cdrwa", scheme: "auth", id: "" }];

/** As zkCli.sh takes them. A comma parts two only behind permissions, because the names in certificates have commas too. */
const ONE = /([A-Za-z0-9]+):(.*?):([cdrwa]+)(?:,|$)/y;

const FORM = 'expected "creator", or a list of scheme:id:permissions with commas, such as digest:ann:<hash>:cdrw,world:anyone:r';

/**
 * Checks who may do what with the nodes that we make: a list, or a text (`creator`, or `scheme:id:permissions,…`). Throws
 * ConfigError. No message shows an id of the scheme digest: it may be a password that was taken for a hash.
 */
export function readAcl(acl: unknown): readonly ZooKeeperAcl[] {
  if (acl === undefined) return OPEN_TO_ALL;
  const list = typeof acl === "string" ? parse(acl) : acl;
  if (!Array.isArray(list) || list.length === 0) throw new ConfigError("acl", `${FORM}, or a list of { permissions, scheme, id }`);
  const checked = list.map(checkedOne);
  if (!checked.some(({ permissions }) => permissions.includes("r"))) {
    throw new ConfigError("acl", "gives nobody the permission r, without which no candidate can wait for the one before it");
  }
  return checked;
}

function parse(text: string): readonly ZooKeeperAcl[] {
  if (text === "creator") return CREATOR;
  const list: ZooKeeperAcl[] = [];
  for (ONE.lastIndex = 0; ONE.lastIndex < text.length; ) {
    const [, scheme, id, permissions] = ONE.exec(text) ?? [];
    if (scheme === undefined || id === undefined || permissions === undefined) throw new ConfigError("acl", FORM);
    list.push({ permissions, scheme, id });
  }
  return list;
}

function checkedOne(one: Partial<ZooKeeperAcl> | null): ZooKeeperAcl {
  const { permissions, scheme, id } = one ?? {};
  if (typeof permissions !== "string" || !/^[cdrwa]+$/.test(permissions) || new Set(permissions).size !== permissions.length) {
    throw new ConfigError("acl", `expected permissions as letters of cdrwa, each once, got ${JSON.stringify(permissions)}`);
  }
  if (typeof scheme !== "string" || scheme === "" || typeof id !== "string")
    throw new ConfigError("acl", "expected scheme and id as texts");
  // Of SHA-1 (the default), which has 28 characters, or of a longer one that the servers were told to use.
  if (scheme === "digest" && !/^[^:]+:[A-Za-z0-9+/]{27,}={0,2}$/.test(id)) {
    throw new ConfigError(
      "acl",
      "expected digest:user:hash:permissions, the hash being the base64 of the SHA-1 of user:password (in a URL, write + as %2B)",
    );
  }
  return { permissions, scheme, id };
}
