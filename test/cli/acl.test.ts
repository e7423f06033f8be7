import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { authOf, may } from "../faults/support/people.js";
import { fresh } from "../support/names.js";
import { connectRaw } from "../support/raw-session.js";
import { disposeAll, Tenure } from "./tenure.js";

let root: string;
beforeEach(() => {
  expect(inject("buildError")).toBe("");
  root = `/${fresh("cli-acl")}`;
});
afterEach(() => disposeAll());

interface As {
  readonly user?: string;
  readonly auth?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs `tenure` to its end as somebody. */
async function tenure(
  command: readonly string[],
  { user, auth = user && authOf(user), env = {} }: As = {},
): Promise<Tenure & { code: number | null }> {
  const [name = "", ...args] = command;
  const store = ["--store", `zookeeper://${inject("zookeeper")}?root=${root}&sessionTimeout=4s`, "--election", "seat"];
  const rest = name === "run" ? ["--timeout", "15s", ...args, "--", "echo", "led"] : args;
  const running = new Tenure([name, ...store, ...rest], { env: { ...(auth && { TENURE_AUTH: `digest:${auth}` }), ...env } });
  return Object.assign(running, { code: await running.exit() });
}

/** What only the outside of the nodes shows. */
async function aclOf(user: string): Promise<string> {
  await using raw = await connectRaw(inject("zookeeper"), { digest: authOf(user) });
  return raw.get(`${root}/seat/term`).then(
    () => "open",
    ({ name }: Error) => name,
  );
}

describe("tenure run --acl", () => {
  it("lets several identities stand, and another one look on", async () => {
    const acl = [may("ann", "cdrw"), may("bob", "cdrw"), may("eve", "r")].join(",");
    const ann = await tenure(["run", "--acl", acl], { user: "ann" });
    expect([ann.code, ann.stdout]).toEqual([0, "led\n"]);
    const bob = await tenure(["run"], { user: "bob", env: { TENURE_ACL: acl } });
    expect([bob.code, bob.stdout]).toEqual([0, "led\n"]);
    expect((await tenure(["status"], { user: "eve" })).stdout).toContain("leader    none");
    const eve = await tenure(["run"], { user: "eve" });
    expect([eve.code, eve.stdout]).toEqual([77, ""]);
    expect(eve.logs.at(-1)?.msg).toBe(
      `NOAUTH: digest:eve lacks the permission CREATE on ${root}/seat/candidates: check the password, or have that permission given: ` +
        "credentials come from TENURE_AUTH or --auth-file",
    );
    expect(await aclOf("stranger")).toBe("NO_AUTH");
  });

  it("with `creator` closes the nodes to all but whoever made them", async () => {
    expect((await tenure(["run", "--acl", "creator"], { user: "team" })).code).toBe(0);
    expect([await aclOf("team"), await aclOf("stranger")]).toEqual(["open", "NO_AUTH"]);
    const wrong = await tenure(["run", "--acl", "creator"], { auth: "team:not-the-secret" });
    expect(wrong.code).toBe(77);
    expect(wrong.logs.filter(({ level }) => level > 30).map(({ msg }) => msg)).toEqual([
      expect.stringMatching(/^NOAUTH: digest:team lacks/),
    ]);
    expect(wrong.stderr).not.toContain("not-the-secret");
    const status = await tenure(["status"], { auth: "team:not-the-secret" });
    expect(status.code).toBe(77);
    expect(status.stderr).toMatch(/^tenure: NOAUTH: digest:team lacks the permission READ on [^\n]*\n$/);
  });

  it.each([
    ["a password for a hash", "digest:ann:open-sesame:cdrw", "SHA-1"],
    ["nothing", "", 'expected "creator"'],
    ["a shorthand that there is not", "creators", 'expected "creator"'],
    ["creator without credentials", "creator", "needs the option auth"],
  ])("refuses %s in one line, before anything is sent", async (_, acl, hint) => {
    const refused = await tenure(["run", "--acl", acl]);
    expect(refused.code).toBe(64);
    expect(refused.stderr).toMatch(/^tenure: acl: [^\n]*\n$/);
    expect(refused.stderr).toContain(hint);
    expect(refused.stderr).not.toContain("sesame");
  });
});
