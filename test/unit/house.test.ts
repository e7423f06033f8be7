import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = process.cwd();
const sources = ["src", "adapters"].flatMap((folder) =>
  (readdirSync(join(ROOT, folder), { recursive: true }) as string[])
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${folder}/${name}`),
);
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

/** Everything that a file imports: paths from the top of the repository, and names of packages. */
function imports(file: string, text: string): string[] {
  const specifiers = withoutComments(text).matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire[\w.]*\s*\(\s*)"([^"]+)"/g);
  return [...specifiers].map(([, name = ""]) => (name.startsWith(".") ? posix.join(posix.dirname(file), name) : name));
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");
}

type Rule = (file: string, text: string) => string[];

const CLIENTS = /^(node-zookeeper-client|consul)(\/|$)/;
const CORE_FOR_ADAPTERS = ["store", "errors", "clock", "duration", "tls", "tls-fault"].map((name) => `src/${name}.js`);

/** The command line joins core and adapters; neither knows the other, beyond the contract. */
const importDirection: Rule = (file, text) =>
  imports(file, text).filter((target) => {
    if (file.startsWith("src/cli/")) return CLIENTS.test(target);
    if (file.startsWith("src/")) return CLIENTS.test(target) || target.startsWith("adapters/") || target.startsWith("src/cli/");
    const own = `${file.split("/").slice(0, 2).join("/")}/`;
    return /^(src|adapters|test)\//.test(target) && !target.startsWith(own) && !CORE_FOR_ADAPTERS.includes(target);
  });

const oneFilePerClient: Rule = (file, text) =>
  /^adapters\/\w+\/client\//.test(file) ? [] : imports(file, text).filter((target) => CLIENTS.test(target));

const shortFiles: Rule = (_, text) => {
  const lines = text.trimEnd().split("\n").length;
  return lines > 250 ? [`${lines} lines`] : [];
};

/** Time comes from the injected clock. The command line may read the clock that all processes of a machine share. */
const injectedTime: Rule = (file, text) => {
  if (file === "src/clock.ts") return [];
  // What follows a dot is a method of a clock or a socket; so is what a type or an object literal declares.
  const found = withoutComments(text).matchAll(
    /\b(Date\.now|performance\.now|AbortSignal\.timeout|timers\/promises|process\.hrtime|new Date\(\)|globalThis\.set\w+)|(?<![.\w"])(setTimeout|setInterval)\b(?!:|\(\))/g,
  );
  return [...found].map(([name]) => name).filter((name) => !(name === "process.hrtime" && file.startsWith("src/cli/")));
};

function offences(rule: Rule, files = sources): string[] {
  return files.flatMap((file) => rule(file, read(file)).map((offence) => `${file}: ${offence}`));
}

describe("the code", () => {
  it("imports in one direction: cli → core ← adapters", () => {
    expect(importDirection("src/a.ts", 'import x from "../adapters/memory/index.js"')).toHaveLength(1);
    expect(importDirection("src/a.ts", 'await import("node-zookeeper-client")')).toHaveLength(1);
    expect(importDirection("src/cli/a.ts", 'import x from "../../adapters/memory/index.js"')).toEqual([]);
    expect(importDirection("adapters/b/a.ts", 'export * from "../memory/index.js"')).toHaveLength(1);
    expect(importDirection("adapters/b/a.ts", 'import type { E } from "../../src/elector.js"')).toHaveLength(1);
    expect(importDirection("adapters/b/a.ts", 'import {\n A,\n} from "../../src/store.js"; import "./c.js"')).toEqual([]);
    expect(offences(importDirection)).toEqual([]);
  });

  it("leaves the packages of the stores to the files of their clients", () => {
    expect(oneFilePerClient("adapters/zookeeper/zookeeper-session.ts", 'import z from "node-zookeeper-client/lib/jute"')).toHaveLength(1);
    expect(offences(oneFilePerClient)).toEqual([]);
  });

  it("has files of 250 lines at most", () => {
    expect(shortFiles("src/a.ts", "x\n".repeat(251))).toEqual(["251 lines"]);
    expect(offences(shortFiles)).toEqual([]);
  });

  it("reads time and sets timers through the clock only", () => {
    expect(injectedTime("src/a.ts", "const t = Date.now(); setTimeout(f, 1); globalThis.setInterval(f)")).toHaveLength(3);
    expect(injectedTime("src/a.ts", "clock.setTimeout(f, 1); // Date.now()")).toEqual([]);
    expect(offences(injectedTime)).toEqual([]);
  });

  it("is what the rules looked at", () => {
    expect(sources.length).toBeGreaterThan(20);
    expect(imports("src/store.ts", read("src/store.ts"))).toContain("src/clock.js");
  });
});

describe("what is committed", () => {
  const committed = execFileSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" }).split("\0").filter(Boolean);
  const texts = committed.filter((file) => existsSync(join(ROOT, file))).map((file) => ({ file, text: read(file) }));
  const naming = (parts: string[]) => texts.filter(({ text }) => parts.some((part) => text.includes(part))).map(({ file }) => file);

  it("names no path of a machine", () => {
    // Put together here, so that this file does not name them.
    const paths = [ROOT, `${homedir()}/`, ...["work", "root"].map((name) => `/${name}/`), `/${"tmp"}/`].filter((path) => path.length > 3);
    expect(naming(["node-zookeeper-client"])).toContain("package.json");
    expect(naming(paths)).toEqual([]);
  });

  it("names no host of a package registry", () => {
    const hosts = ["registry.npm", "repo1.maven", "repo.maven", "deb.debian", "npmmirror"].map((host) => host.replace(".", "\\."));
    const pattern = new RegExp(hosts.join("|"));
    expect(texts.filter(({ file, text }) => file !== "test/unit/house.test.ts" && pattern.test(text)).map(({ file }) => file)).toEqual([]);
    expect(read("package-lock.json")).not.toMatch(/"resolved": "https?:/);
  });
});
