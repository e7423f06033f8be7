import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { freePort } from "../support/free-port.js";
import { fresh } from "../support/names.js";
import { stamped } from "./fake-wrapper.js";
import { CREDENTIALS, protect } from "./protect.js";
import { StampFile } from "./stamps.js";
import { disposeAll, Tenure, type TenureOptions } from "./tenure.js";

beforeEach(() => {
  expect(inject("buildError")).toBe("");
});
afterEach(disposeAll);

/** Runs it to its end. */
async function tenure(args: readonly string[], options?: TenureOptions) {
  const process_ = new Tenure(args, options);
  const code = await process_.exit();
  return { code, stdout: process_.stdout, stderr: process_.stderr };
}

const shared = (root: string) => `zookeeper://${inject("zookeeper")}?root=/${root}&sessionTimeout=4s&tickTime=500ms`;

/** What a message must be: one line, nothing of a stack trace, with what to do in it. */
function expectOneLine(stderr: string, ...parts: string[]): void {
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).not.toMatch(/\n\s+at |node:internal/);
  for (const part of parts) expect(stderr).toContain(part);
}

describe("wrong options", () => {
  const cases: [string, string[], string[]][] = [
    ["no store", ["--election", "e"], ["--store"]],
    ["no election", ["--store", "zookeeper://h"], ["--election"]],
    ["not a URL", ["--store", "zk1:2181", "--election", "e"], ["--store", "zookeeper://"]],
    ["an unknown scheme", ["--store", "consull://h", "--election", "e"], ["consull://", "use zookeeper://"]],
    ["memory", ["--store", "memory://", "--election", "e"], ["memory://", "tenure demo"]],
    ["a bad port", ["--store", "zookeeper://h:99999", "--election", "e"], ["port", "99999"]],
    ["an unknown option in the URL", ["--store", "zookeeper://h?timeout=5s", "--election", "e"], ["timeout", "sessionTimeout"]],
    ["a URL time without its unit", ["--store", "zookeeper://h?sessionTimeout=15", "--election", "e"], ["sessionTimeout", '"15"']],
    ["an election with a slash", ["--store", "zookeeper://h", "--election", "a/b"], ["election", '"a/b"']],
    ["an empty election", ["--store", "zookeeper://h", "--election", ""], ["election", '""']],
    ["a time without its unit", ["--store", "zookeeper://h", "--election", "e", "--drain", "30"], ["--drain", '"30"', "5s"]],
    ["a reserve below what the kill needs", ["--store", "zookeeper://h", "--election", "e", "--reserve", "100ms"], ["--reserve", "250ms"]],
    ["--try and --timeout", ["--store", "zookeeper://h", "--election", "e", "--try", "--timeout", "1s"], ["--try", "--timeout"]],
    ["metadata without a value", ["--store", "zookeeper://h", "--election", "e", "--metadata", "x"], ["--metadata", "key=value"]],
    [
      "an auth file that is not there",
      ["--store", "zookeeper://h", "--election", "e", "--auth-file", "/no/such"],
      ["--auth-file", "ENOENT"],
    ],
    ["an unknown level", ["--store", "zookeeper://h", "--election", "e", "--log-level", "loud"], ["loud", "debug"]],
  ];
  it.each(cases)("%s", async (_name, flags, parts) => {
    const { code, stderr } = await tenure(["run", ...flags, "--", "true"]);
    expectOneLine(stderr, ...parts);
    expect(code).toBe(64);
  });

  it("no command, an unknown command", async () => {
    const missing = await tenure(["run", "--store", "zookeeper://h", "--election", "e"]);
    expectOneLine(missing.stderr, "command");
    expect(missing.code).toBe(64);
    const unknown = await tenure(["stat"]);
    expect(unknown.stderr).toContain("status");
    expect(unknown.code).toBe(64);
  });

  it("a reserve that does not fit the granted session timeout shows the numbers", async () => {
    const { code, stderr } = await tenure(["run", "--store", shared(fresh("cli")), "--election", "e", "--reserve", "3s", "--", "true"]);
    expect(stderr).toMatch(/reserve: 3000 ms is too long.*4000 ms/);
    expect(code).toBe(64);
  });
});

describe("help", () => {
  it("documents the exit codes and what is not covered", async () => {
    const { code, stdout } = await tenure(["run", "--help"]);
    expect(code).toBe(0);
    for (const part of ["64", "69", "70", "74", "75", "77", "78", "126", "127", "128+n", "setsid", "TENURE_STATUS_FILE"])
      expect(stdout).toContain(part);
  });
});

describe("a store that cannot be used", () => {
  it("is unreachable: 69, one line, also for status, --try and --timeout", async () => {
    const flags = ["--store", `zookeeper://127.0.0.1:${await freePort()}`, "--election", "e"];
    const status = await tenure(["status", ...flags]);
    expectOneLine(status.stderr, "connection refused", "check the address");
    expect(status.code).toBe(69);
    for (const limit of [["--try"], ["--timeout", "10s"]]) {
      const run = await tenure(["run", ...flags, ...limit, "--", "true"]);
      expect(run.stderr).toContain("connection refused: check the address");
      expect(run.code).toBe(69);
    }
  });

  it("is kept trying without a limit, with one line for each failure", async () => {
    const waiting = new Tenure(["run", "--store", `zookeeper://127.0.0.1:${await freePort()}`, "--election", "e", "--", "true"]);
    await waiting.logged("connection refused");
    waiting.kill("SIGTERM");
    expect(await waiting.exit()).toBe(143);
    expect(waiting.stderr).not.toContain('"stack"');
  });

  it("refuses us: 77, and names the credentials; with them it works, from the environment or a file", async () => {
    const root = fresh("cli");
    const file = new StampFile();
    try {
      await protect(root, "e");
      const flags = ["--store", `${shared(root)}`, "--election", "e"];
      const refused = await tenure(["run", ...flags, "--try", "--", "true"]);
      expect(refused.code).toBe(77);
      expect(refused.stderr).toMatch(/TENURE_AUTH/);
      const allowed = await tenure(["run", ...flags, "--", "true"], { env: { TENURE_AUTH: CREDENTIALS } });
      expect(allowed.code).toBe(0);
      writeFileSync(file.path, `${CREDENTIALS}\n`);
      const byFile = await tenure(["status", ...flags, "--auth-file", file.path]);
      expect(byFile.stdout).toContain("leader    none");
      const byVariable = await tenure(["status", ...flags], { env: { TENURE_AUTH_FILE: file.path } });
      expect(byVariable.stdout).toContain("leader    none");
    } finally {
      file.dispose();
    }
  });

  it("shows no secret, wherever it came from", async () => {
    const url = `zookeeper://user:in%2Fthe-url@127.0.0.1:${await freePort()}`;
    const env = { TENURE_AUTH: "digest:user:in-the-environment" };
    const { stderr } = await tenure(["run", "--store", url, "--election", "e", "--timeout", "3s", "--log-level", "debug", "--", "true"], {
      env,
    });
    expect(stderr).not.toMatch(/in%2Fthe-url|in\/the-url|in-the-environment/);
    const bad = await tenure(["run", "--store", "zookeeper://user:in-the-url@h?nonsense=1", "--election", "e", "--", "true"]);
    expect(bad.stderr).not.toContain("in-the-url");
  });
});

describe("a command that cannot be run", () => {
  it("is not found: 127; is not executable: 126; before anything is sent to the store", async () => {
    const flags = ["--store", "zookeeper://127.0.0.1:1", "--election", "e", "--"];
    const missing = await tenure(["run", ...flags, "no-such-command"]);
    expect(missing.code).toBe(127);
    expect(missing.stderr).toContain("no-such-command: command not found");
    const forbidden = await tenure(["run", ...flags, join("/etc", "passwd")]);
    expect(forbidden.code).toBe(126);
    expect(forbidden.stderr).not.toContain("connection refused");
  });
});

describe("tenure status", () => {
  it("shows leader, number, fence, since and the queue in order; exit 1 when nobody leads", async () => {
    const file = new StampFile();
    const flags = ["--store", shared(fresh("cli")), "--election", "nightly"];
    const candidate = (id: string) =>
      new Tenure(["run", ...flags, "--id", id, "--metadata", "zone=eu", "--", process.execPath, ...file.command()]);
    const nobody = await tenure(["status", ...flags]);
    expect(nobody.stdout).toMatch(/^election {2}nightly on zookeeper:.*\nleader {4}none\nqueue {5}empty\n$/);
    expect(nobody.code).toBe(1);
    candidate("first");
    await stamped(file, "beat");
    await candidate("second").logged("standing by");
    const table = await tenure(["status", ...flags]);
    expect(table.code).toBe(0);
    expect(table.stdout).toMatch(
      /leader {4}first\nnumber {4}\d+\nfence {5}\d+\nsince {5}\S+Z \(\d+ s ago\)\nqueue\n {2}1 {2}first {2}leading.*\n {2}2 {2}second {2}\{"zone":"eu"\}\n$/,
    );
    const json = await tenure(["status", ...flags, "--json"]);
    const { leader, queue, election } = JSON.parse(json.stdout);
    expect(election).toBe("nightly");
    expect(leader).toMatchObject({ id: "first", metadata: { zone: "eu" } });
    expect(leader.fence).toMatch(/^\d+$/);
    expect(file.read()[0]?.label).toBe(`first/${leader.fence}`);
    expect(queue.map(({ id, leading }: { id: string; leading: boolean }) => [id, leading])).toEqual([
      ["first", true],
      ["second", false],
    ]);
    await disposeAll();
    file.dispose();
  });
});

describe("tenure demo", () => {
  it("tells the story in under 30 s, without colours when piped, and everything it claims happened", async () => {
    const begun = performance.now();
    const { code, stdout, stderr } = await tenure(["demo"]);
    expect(stderr).toBe("");
    expect(stdout).not.toContain("NO ");
    expect(code).toBe(0);
    expect(performance.now() - begun).toBeLessThan(30_000);
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toMatch(/late write arrives with fence \d+: rejected/);
  });
});
