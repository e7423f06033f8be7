import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import type { ZooKeeperTls } from "../../adapters/zookeeper/index.js";
import { fresh } from "../support/names.js";
import { ca, MISTAKES, otherCa, startTlsServers, type TlsServers, trusting } from "../support/tls-servers.js";
import { disposeAll, Tenure } from "./tenure.js";

let servers: TlsServers;
let folder = "";
beforeAll(async () => {
  expect(inject("buildError")).toBe("");
  folder = mkdtempSync(join(tmpdir(), "tenure-tls-"));
  servers = await startTlsServers();
});
afterEach(disposeAll);
afterAll(async () => {
  await servers?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function tenure(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const process_ = new Tenure(args, { env });
  const code = await process_.exit();
  return { code, stdout: process_.stdout, stderr: process_.stderr };
}

/** What the URL says of TLS; its files are written first. */
function query(tls: ZooKeeperTls | boolean): string {
  if (typeof tls === "boolean") return `tls=${tls}`;
  const parts = [`tls=true`];
  for (const key of ["ca", "cert", "key"] as const) {
    if (tls[key] === undefined) continue;
    const file = join(folder, `${fresh(key)}.pem`);
    writeFileSync(file, tls[key] as string);
    parts.push(`${key}File=${encodeURIComponent(file)}`);
  }
  if (tls.servername !== undefined) parts.push(`servername=${tls.servername}`);
  return parts.join("&");
}

const flags = (address: string, tls: ZooKeeperTls | boolean) => [
  "--store",
  `zookeeper://${address}?root=/${fresh("cli-tls")}&${query(tls)}`,
  "--election",
  "e",
];

describe("tenure over TLS", () => {
  const sealed = ca.issue("me", { passphrase: "sesame street" });

  it("runs a command, with the passphrase of our key from the environment or a file", async () => {
    const where = flags(servers.strict.secureAddress, { ...trusting, ...sealed });
    const ran = await tenure(["run", ...where, "--", "echo", "here"], { TENURE_TLS_PASSPHRASE: "sesame street" });
    expect(ran).toMatchObject({ code: 0, stdout: "here\n" });
    const file = join(folder, "passphrase");
    writeFileSync(file, "sesame street\n");
    const seen = await tenure(["status", ...where], { TENURE_TLS_PASSPHRASE_FILE: file });
    expect(seen).toMatchObject({ code: 1, stderr: "" });
    expect(seen.stdout).toContain("leader    none");
  });

  it("passes over a passphrase where no key needs one", async () => {
    const env = { TENURE_TLS_PASSPHRASE: "sesame street" };
    expect(await tenure(["status", ...flags(servers.lenient.secureAddress, trusting)], env)).toMatchObject({ code: 1, stderr: "" });
    expect(await tenure(["status", ...flags(servers.lenient.address, false)], env)).toMatchObject({ code: 1, stderr: "" });
  });

  it("trusts nobody more because the environment says so", async () => {
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0", NODE_NO_WARNINGS: "1" };
    const { code, stderr } = await tenure(["status", ...flags(servers.lenient.secureAddress, { ca: otherCa.cert })], env);
    expect(stderr).toContain("not signed by a CA");
    expect(code).toBe(77);
  });

  it.each([
    ["a file that is not there", () => `tls=true&caFile=${join(folder, "none")}`, {}, "tls.caFile: cannot read"],
    ["a key without its passphrase", () => query({ ...trusting, ...sealed }), {}, "TENURE_TLS_PASSPHRASE: is missing"],
    ["a wrong passphrase", () => query({ ...trusting, ...sealed }), { TENURE_TLS_PASSPHRASE: "hush" }, "passphrase the right one"],
    ["no passphrase file", () => query(trusting), { TENURE_TLS_PASSPHRASE_FILE: "/none" }, "name a readable file with the passphrase"],
  ])("says in one line what is wrong with %s: 64", async (_, tls, env, says) => {
    const { code, stderr } = await tenure(["status", "--store", `zookeeper://h?${tls()}`, "--election", "e"], env);
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toContain(says);
    expect(stderr).not.toContain("hush");
    expect(code).toBe(64);
  });

  it.each(MISTAKES)("says in one line what is wrong with $what", async ({ address, tls, code, says }) => {
    const where = flags(address(servers), tls);
    const exit = code === "certificate" ? 77 : 69;
    const [status, run] = await Promise.all([
      tenure(["status", ...where]),
      tenure(["run", ...where, ...tries(code), "--", "echo", "here"]),
    ]);
    expect(status.stderr).toMatch(/^[^\n]+\n$/);
    expect(status.stderr).toMatch(says);
    expect(status.stderr).toContain(code === "certificate" ? "are caFile=" : "check the address");
    expect(status.stderr).not.toContain("TENURE_AUTH");
    expect(status.code).toBe(exit);
    expect(run.stderr).toMatch(says);
    expect(run.stderr).not.toContain("    at ");
    expect(run).toMatchObject({ code: exit, stdout: "" });
  });
});

/** What looks like a server that does not serve is tried for ever, unless told otherwise. */
function tries(code: string): string[] {
  return code === "certificate" ? [] : ["--try"];
}
