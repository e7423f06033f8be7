import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { readCredentials, secretsOf } from "../../src/cli/credentials.js";
import { later, left, type MachineInstant, machineNow } from "../../src/cli/machine-time.js";
import { groupGone, processStat, sessionMembers, signalGroup } from "../../src/cli/process-group.js";
import { redactor } from "../../src/cli/redact.js";
import { until } from "../support/wait-for.js";

describe("machine time", () => {
  const now: MachineInstant = { mono: 1000, boot: 5000, wall: 9000 };
  const deadline = later(now, 700);

  it("is left by the clock that says least", () => {
    expect(left(deadline, now)).toBe(700);
    expect(left(deadline, { ...now, mono: 1100 })).toBe(600);
    // Suspended for 200 ms: CLOCK_MONOTONIC stood still.
    expect(left(deadline, { ...now, boot: 5200 })).toBe(500);
    // Set forward, or resumed by a hypervisor.
    expect(left(deadline, { ...now, wall: 9300 })).toBe(400);
    // Set back: ignored.
    expect(left(deadline, { ...now, wall: 1 })).toBe(700);
  });

  it("does without a clock that one side does not have", () => {
    expect(left(deadline, { ...now, boot: null })).toBe(700);
  });

  it("is the same in another process", async () => {
    const child = spawn(process.execPath, ["-e", "console.log(Number(process.hrtime.bigint()) / 1e6)"]);
    const before = machineNow().mono;
    const text = await new Promise<string>((resolve) => child.stdout.on("data", (chunk) => resolve(String(chunk))));
    expect(Number(text)).toBeGreaterThan(before);
    expect(Number(text)).toBeLessThan(machineNow().mono);
  });
});

describe("process groups", () => {
  it("never signals everybody, or ourselves", () => {
    for (const id of [-1, 0, 1, 1.5, Number.NaN]) expect(() => signalGroup(id, 0)).toThrow(RangeError);
  });

  it("lists the live members of a session, and counts zombies as gone", async () => {
    // The child of the shell is killed and never reaped: the shell has become a sleep that waits for nobody.
    const shell = spawn("sh", ["-c", "sleep 1000 & exec sleep 1000"], { detached: true, stdio: "ignore" });
    const leader = shell.pid as number;
    const child = await until(() => sessionMembers(leader)?.find((pid) => pid !== leader), { what: "a child" });
    process.kill(child, "SIGKILL");
    await until(() => processStat(child)?.zombie, { what: "a zombie" });
    expect(sessionMembers(leader)).toEqual([leader]);
    expect(groupGone(leader)).toBe(false);
    expect(signalGroup(leader, "SIGKILL")).toBe(true);
    await until(() => groupGone(leader), { what: "the end of the group" });
  });

  it("says when there is no such group", async () => {
    const child = spawn("true", { detached: true });
    await new Promise((resolve) => child.on("exit", resolve));
    expect(signalGroup(child.pid as number, 0)).toBe(false);
  });
});

describe("credentials", () => {
  it("come from the file of the option, then TENURE_AUTH, then TENURE_AUTH_FILE", () => {
    expect(readCredentials({ file: undefined, env: {} })).toBeNull();
    expect(readCredentials({ file: undefined, env: { TENURE_AUTH: "digest:ann:pass:word", TENURE_AUTH_FILE: "/no/such" } })).toEqual({
      scheme: "digest",
      credentials: "ann:pass:word",
    });
    expect(() => readCredentials({ file: "/no/such", env: { TENURE_AUTH: "digest:a:b" } })).toThrow("--auth-file");
    expect(() => readCredentials({ file: undefined, env: { TENURE_AUTH_FILE: "/no/such" } })).toThrow("TENURE_AUTH_FILE");
  });

  it("that are wrong are not shown", () => {
    expect(() => readCredentials({ file: undefined, env: { TENURE_AUTH: "sesame" } })).toThrow(/^TENURE_AUTH: expected scheme:credentials/);
  });
});

describe("redaction", () => {
  it.each([
    ["zookeeper://ann:open@sesame@h1:2181,h2/x", "zookeeper://***@h1:2181,h2/x"],
    ["zookeeper://ann:pa/ss@h1", "zookeeper://***@h1"],
    ["auth digest:ann:open-sesame failed", "auth digest:ann:*** failed"],
    ["zookeeper://h1:2181/app and mail@example.org", "zookeeper://h1:2181/app and mail@example.org"],
  ])("%s", (text, clean) => {
    expect(redactor([])(text)).toBe(clean);
  });

  it("takes out the secrets that were given, wherever they are, also inside JSON", () => {
    const secrets = secretsOf(
      { credentials: { scheme: "digest", credentials: 'ann:so "quoted"' }, passphrase: "of the key" },
      "zookeeper://bob:per%20cent@h",
      {},
    );
    const text = JSON.stringify({ a: 'so "quoted"', b: "per%20cent", c: "per cent", d: "of the key" });
    expect(redactor(secrets)(text)).toBe(JSON.stringify({ a: "***", b: "***", c: "***", d: "***" }));
  });

  it("takes out tokens: of the credentials, of Consul's variable, and of a URL that may not have one", () => {
    const credentials = { scheme: "token", credentials: "of:two parts" };
    const secrets = secretsOf({ credentials, passphrase: null }, "consul://h/p?ttl=5s&token=per%20cent&x", {
      CONSUL_HTTP_TOKEN: "of the place",
    });
    expect(redactor(secrets)("of:two parts, per%20cent, per cent, of the place, two parts")).toBe("***, ***, ***, ***, two parts");
  });
});
