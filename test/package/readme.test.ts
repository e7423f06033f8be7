import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, inject, it } from "vitest";
import { SURROUNDINGS } from "./readme-examples.js";

const run = promisify(execFile);
const top = fileURLToPath(new URL("../..", import.meta.url));
const main = join(top, "dist/src/cli/main.js");
const readme = readFileSync(join(top, "README.md"), "utf8");
const blocks = [...readme.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({ language, text: text as string }));
const inLanguage = (language: string) => blocks.filter((block) => block.language === language).map(({ text }) => text);

// Below dist/, so that "tenure" is this package.
mkdirSync(join(top, "dist"), { recursive: true });
const dir = mkdtempSync(join(top, "dist", "readme-"));
afterAll(() => rmSync(dir, { recursive: true }));

/** The hosts that the README names are the test's server; each example has a chroot of its own. */
const onTheServer = (text: string, chroot: string) => text.replaceAll("zk1:2181,zk2:2181,zk3:2181/app", `${inject("zookeeper")}/${chroot}`);

describe("the README's examples", () => {
  it("are all known to this test", () => {
    expect(inLanguage("js").map((text) => SURROUNDINGS.filter(({ has }) => text.includes(has)).length)).toEqual(SURROUNDINGS.map(() => 1));
  });

  it.each(SURROUNDINGS)("run: $has", async ({ has, before, after, prints }) => {
    const index = inLanguage("js").findIndex((text) => text.includes(has));
    const file = join(dir, `example-${index}.mjs`);
    writeFileSync(file, onTheServer(`${before}\n${inLanguage("js")[index]}\n${after}`, `readme-${index}`));
    const { stdout } = await run(process.execPath, [file], { timeout: 30_000 });
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
    writeFileSync(join(dir, "nightly.sh"), '#!/bin/sh\necho "$TENURE_ELECTION $TENURE_FENCE $*"\n', { mode: 0o755 });
    const lines = commands.filter((line) => line.startsWith("npx tenure "));
    expect(lines.length).toBe(6);
    // What comes of each where nobody leads any more.
    const codes: Record<string, number> = { status: 1, watch: 2, evict: 1 };
    for (const line of lines) {
      const [, , ...args] = onTheServer(line, "readme-cli").replace("--alert-after 30s", "--alert-after 1s").split(" ");
      const result = await run(process.execPath, [main, ...args], { cwd: dir, timeout: 30_000 }).catch(
        (error: { code: number; stdout: string }) => error,
      );
      if (args[0] === "run") expect(result.stdout).toMatch(args.includes("--all") ? /^cron \d+ --all\n$/ : /^cron \d+ \n$/);
      else if (args[0] === "list") expect(result.stdout).toMatch(/\ncron +none +- +- +0\n/);
      else expect(result).toMatchObject({ code: codes[args[0] as string] });
    }
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
