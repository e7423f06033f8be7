import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, inject, it } from "vitest";
import { readAcl } from "../../adapters/zookeeper/zookeeper-acl.js";
import { connectRaw } from "../support/raw-session.js";
import { PATIENCE } from "../support/wait-for.js";
import { inLanguage, main, readme, top, workplace } from "./readme-blocks.js";
import { SURROUNDINGS } from "./readme-examples.js";

const run = promisify(execFile);
const dir = workplace();
afterAll(() => rmSync(dir, { recursive: true }));
/** What is on Consul is run by readme-consul.test.ts. */
const js = inLanguage("js").filter((text) => !text.includes("tenure/consul"));

/** The hosts that the README names are the test's server; each example has a chroot of its own. */
const onTheServer = (text: string, chroot: string) => text.replaceAll("zk1:2181,zk2:2181,zk3:2181/app", `${inject("zookeeper")}/${chroot}`);

describe("the README's examples", () => {
  it("are all known to this test", () => {
    expect(js.map((text) => SURROUNDINGS.filter(({ has }) => text.includes(has)).length)).toEqual(SURROUNDINGS.map(() => 1));
  });

  it.each(SURROUNDINGS)("run: $has", async ({ has, before, after, prints }) => {
    const index = js.findIndex((text) => text.includes(has));
    const file = join(dir, `example-${index}.mjs`);
    writeFileSync(file, onTheServer(`${before}\n${js[index]}\n${after}`, `readme-${index}`));
    const { stdout } = await run(process.execPath, [file], { timeout: 2 * PATIENCE });
    expect(stdout).toMatch(prints);
  });
});

describe("the README's commands", () => {
  const commands = inLanguage("sh").flatMap((text) => text.trim().split("\n"));
  const scripts = JSON.parse(readFileSync(join(top, "package.json"), "utf8")).scripts as Record<string, string>;

  it("of npm are scripts of the package", () => {
    const named = commands.flatMap((line) => [...line.matchAll(/npm (?:run ([\w:]+)|(test))/g)].map(([, script, test]) => script ?? test));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !((name as string) in scripts))).toEqual([]);
  });

  it("of tenure run as they stand", async () => {
    const lines = commands.filter((line) => line.startsWith("npx tenure ") && !line.includes("consul://"));
    expect(lines.length).toBe(6);
    // What comes of each where nobody leads any more.
    const codes: Record<string, number> = { status: 1, watch: 2, evict: 1 };
    for (const line of lines) {
      const [, , ...args] = onTheServer(line, "readme-cli").replace("--alert-after 30s", "--alert-after 5s").split(" ");
      const result = await run(process.execPath, [main, ...args], { cwd: dir, timeout: 2 * PATIENCE }).catch(
        (error: { code: number; stdout: string }) => error,
      );
      if (args[0] === "run") expect(result.stdout).toMatch(args.includes("--all") ? /^cron \d+ --all\n$/ : /^cron \d+ \n$/);
      else if (args[0] === "list") expect(result.stdout).toMatch(/\ncron +none +- +- +0\n/);
      else expect(result).toMatchObject({ code: codes[args[0] as string] });
    }
  });

  it("of the permissions as they stand, with nodes that a candidate makes", async () => {
    const recipe = inLanguage("sh").find((text) => text.includes("TENURE_ACL")) as string;
    const script = onTheServer(recipe, "readme-acl").replaceAll("npx tenure", `"${process.execPath}" "${main}"`);
    // The last command is the status: nobody leads any more.
    await expect(run("sh", ["-e", "-c", script], { cwd: dir, timeout: 2 * PATIENCE })).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^guarded \d+ \n[\s\S]*leader +none/),
    });
  });

  it("of the permissions with nodes that an administrator makes", async () => {
    const secrets = { admin: "secret-4", ann: "secret-1", bob: "secret-2", eve: "secret-3" };
    const filled = (text: string) =>
      Object.entries(secrets).reduce((sum, [user, secret]) => {
        const hash = createHash("sha1").update(`${user}:${secret}`).digest("base64");
        return sum.replaceAll(`<${user}>`, `digest:${user}:${hash}`);
      }, text);
    const [first = "", ...lines] = filled(inLanguage("zkcli")[0] as string)
      .replaceAll("/app/", "/readme-prepared/")
      .trim()
      .split("\n");
    await using admin = await connectRaw(inject("zookeeper"), { digest: first.replace("addauth digest ", "") });
    await admin.create("/readme-prepared");
    for (const [command, path = "", acl = ""] of lines.map((line) => line.split(" "))) {
      if (command === "create") await admin.create(path);
      else if (command === "setAcl") await admin.allow(path, readAcl(acl));
      else throw new Error(`unknown: ${command}`);
    }
    const url = `zookeeper://${inject("zookeeper")}/readme-prepared`;
    const tenure = (user: "ann" | "bob" | "eve", ...args: string[]) =>
      run(process.execPath, [main, args[0] as string, "--store", url, "--election", "cron", ...args.slice(1)], {
        env: { ...process.env, TENURE_AUTH: `digest:${user}:${secrets[user]}` },
        timeout: 2 * PATIENCE,
      }).catch((error: { code: number; stdout: string }) => error);
    const entries = /`(<ann>:r[^`]*)`/.exec(readme)?.[1] as string;
    for (const user of ["ann", "bob"] as const) {
      expect(await tenure(user, "run", "--acl", filled(entries), "--", "echo", user)).toMatchObject({ stdout: `${user}\n` });
    }
    expect(await tenure("eve", "status")).toMatchObject({ code: 1, stdout: expect.stringMatching(/leader +none/) });
    expect(await tenure("eve", "run", "--", "true")).toMatchObject({ code: 77 });
  });

  it("has every option that the README names", async () => {
    const section = readme.slice(readme.indexOf("## Command line"), readme.indexOf("## ZooKeeper"));
    const named = new Set(
      [...section.matchAll(/--[a-z][a-z-]*/g)].map(([option]) => option).filter((option) => option !== "--all" && option !== "--json"),
    );
    const helps = ["run", "status", "watch", "list", "evict"].map((command) => run(process.execPath, [main, command, "--help"]));
    const help = (await Promise.all(helps)).map(({ stdout }) => stdout).join("\n");
    expect([...named].filter((option) => !help.includes(option))).toEqual([]);
  });

  it("ends with the exit statuses that the README lists", async () => {
    const { EXIT } = await import("../../src/cli/exit-codes.js");
    const section = readme.slice(readme.indexOf("| exit status |"), readme.indexOf("### `tenure status`"));
    const listed = [...section.matchAll(/^\| ([\d, ]+)/gm)]
      .flatMap(([, codes]) => (codes as string).split(",").map(Number))
      .filter(Boolean);
    expect(new Set(listed)).toEqual(new Set(Object.values(EXIT).filter((code) => code > 1)));
  });
});
