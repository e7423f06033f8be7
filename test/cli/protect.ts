import { inject } from "vitest";
import { zookeeper } from "../../adapters/zookeeper/index.js";
import { Elector } from "../../src/index.js";

/** What the identity of {@link protect} gives as TENURE_AUTH. */
export const CREDENTIALS = "digest:user:s3cret-word";

/**
 * Holds an election as the user "user", whose nodes others may use only as far as `others` says (letters of `cdrwa`;
 * default: not at all). `use` runs while it leads.
 */
export async function protect(
  root: string,
  election: string,
  others = "",
  use: (leader: Elector) => Promise<void> = async () => {},
): Promise<void> {
  const store = zookeeper({
    servers: inject("zookeeper"),
    root: `/${root}`,
    sessionTimeout: "4s",
    tickTime: 500,
    auth: "user:s3cret-word",
    acl: [
      { permissions: "cdrwa", scheme: "auth", id: "" },
      ...(others === "" ? [] : [{ permissions: others, scheme: "world", id: "anyone" }]),
    ],
  });
  const elector = new Elector({ store, election, id: "protected" });
  elector.start();
  try {
    await elector.elected();
    await use(elector);
  } finally {
    await elector.stop();
  }
}
