import { createHash } from "node:crypto";
import { readAcl } from "../../../adapters/zookeeper/zookeeper-acl.js";
import { connectRaw, type RawSession } from "../../support/raw-session.js";

/** What the person proves who they are with, for the scheme digest. */
export const authOf = (user: string) => `${user}:secret-of-${user}`;

/** What may do so, as one part of an ACL in text. */
export function may(user: string, permissions: string): string {
  return `digest:${user}:${createHash("sha1").update(authOf(user)).digest("base64")}:${permissions}`;
}

/** The one who may do everything, and makes nodes for others. */
export class Administrator {
  readonly raw: RawSession;

  private constructor(raw: RawSession) {
    this.raw = raw;
  }

  static async at(address: string): Promise<Administrator> {
    return new Administrator(await connectRaw(address, { digest: authOf("admin") }));
  }

  /** Makes a node, of which others may do what `acl` says. */
  async make(path: string, ...acl: string[]): Promise<void> {
    await this.raw.create(path);
    await this.allow(path, ...acl);
  }

  /** From now on others may do with the node what `acl` says. */
  async allow(path: string, ...acl: string[]): Promise<void> {
    await this.raw.allow(path, readAcl([may("admin", "cdrwa"), ...acl].join(",")));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.raw.close();
  }
}
