import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

const ROOT = process.cwd();
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  name: string;
  version: string;
  exports: Record<string, unknown>;
  devDependencies: Record<string, string>;
};
/** The oldest that is promised to work, and the last of its line. */
const TYPESCRIPTS = ["5.4", "5.9"];
/** As users write them. */
const subpaths = Object.keys(manifest.exports).map((path) => manifest.name + path.slice(1));
const modules = subpaths.filter((name) => !name.endsWith(".json"));

/** Runs a program in `cwd`; what it wrote is in the error, should it fail. */
function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd, encoding: "utf8", maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${command} ${args.join(" ")}: ${error.message}\n${stdout}\n${stderr}`));
      else resolve(stdout.trim());
    });
  });
}

const install = (cwd: string, ...args: string[]) =>
  run(cwd, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", ...args);

describe("the packed package, installed in an empty folder", () => {
  const folder = mkdtempSync(join(tmpdir(), "tenure-package-"));
  let packed: string[];

  beforeAll(async () => {
    expect(inject("buildError")).toBe("");
    // Without scripts: dist/ has just been built, and other tests use it.
    const [pack] = JSON.parse(await run(ROOT, "npm", "pack", "--json", "--ignore-scripts", "--pack-destination", folder)) as [
      { filename: string; files: { path: string }[] },
    ];
    packed = pack.files.map(({ path }) => path);
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
    const compilers = TYPESCRIPTS.map((version) => `typescript-${version}@npm:typescript@~${version}.0`);
    await install(folder, `./${pack.filename}`, ...compilers, `@types/node@${manifest.devDependencies["@types/node"]}`);
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("holds what it should, and no sources or tests", () => {
    expect(packed).toEqual(expect.arrayContaining(["LICENSE", "README.md", "CHANGELOG.md", "package.json", "dist/src/cli/main.js"]));
    expect(packed.filter((path) => !/^(dist\/.*\.(js|d\.ts)|LICENSE|[A-Z]+\.md|package\.json)$/.test(path))).toEqual([]);
  });

  it.each(subpaths)("%s is imported and required", async (name) => {
    const attributes = name.endsWith(".json") ? ", { with: { type: 'json' } }" : "";
    const names = (module: string) =>
      `console.log(Object.keys(${module}).filter((key) => !/default|module.exports/.test(key)).sort().join())`;
    const imported = await run(folder, "node", "--input-type=module", "-e", names(`await import("${name}"${attributes})`));
    const required = await run(folder, "node", "--input-type=commonjs", "-e", names(`require("${name}")`));
    expect(required).not.toBe("");
    if (!attributes) expect(imported).toBe(required);
  });

  it("holds an election", async () => {
    const program = `
      import { Elector } from "tenure";
      import { memory } from "tenure/memory";
      const elector = new Elector({ store: memory(), election: "packed" });
      console.log(await elector.lead(() => elector.isLeader));`;
    expect(await run(folder, "node", "--input-type=module", "-e", program)).toBe("true");
  });

  it("brings the command", async () => {
    expect(await run(folder, "npx", "--no-install", "tenure", "--version")).toBe(manifest.version);
    expect(await run(folder, join("node_modules", ".bin", "tenure"), "--help")).toMatch(/run[\s\S]*status[\s\S]*demo/);
  });

  const CONSUMER = `${modules.map((name, index) => `import * as m${index} from "${name}";`).join("\n")}
import { Elector, type ElectorOptions, type Term } from "tenure";
import { memory } from "tenure/memory";
import { consul, type ConsulOptions } from "tenure/consul";
import { zookeeper } from "tenure/zookeeper";

export const where: ConsulOptions = { address: "127.0.0.1:8500", ttl: "10s", tls: { verify: false } };
export const other: ElectorOptions = { store: consul(where), election: "types" };
export const options: ElectorOptions = { store: zookeeper("127.0.0.1:2181"), election: "types", drain: "5s" };
export const elector = new Elector({ store: memory(), election: "types" });
export const term: Promise<Term> = elector.elected();
export const fence: Promise<bigint> = term.then(({ fence }) => fence);
elector.on("elected", () => {});
// @ts-expect-error: no such event
elector.on("elect", () => {});
// @ts-expect-error: an election is needed
new Elector({ store: memory() });
export const all = [${modules.map((_, index) => `m${index}`).join(", ")}];
`;

  it.each(TYPESCRIPTS)(
    "has types for users of TypeScript %s",
    async (version) => {
      writeFileSync(join(folder, "consumer.ts"), CONSUMER);
      const tsc = join("node_modules", `typescript-${version}`, "bin", "tsc");
      expect(await run(folder, "node", tsc, "--version")).toContain(`Version ${version}.`);
      const strict = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022", "--types", "node", "consumer.ts"];
      // The first run checks our declarations themselves too; --skipLibCheck passes over them.
      await run(folder, "node", tsc, ...strict, "--module", "node16", "--moduleResolution", "node16");
      await run(folder, "node", tsc, ...strict, "--skipLibCheck", "--module", "esnext", "--moduleResolution", "bundler");
    },
    300_000,
  );
});
