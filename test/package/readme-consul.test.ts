import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { KEYS } from "../../adapters/consul/consul-options.js";
import { consul } from "../support/consul.js";
import { call } from "../support/consul-http.js";
import { startConsul } from "../support/consul-server.js";
import { installConsul } from "../support/install-consul.js";
import { fresh } from "../support/names.js";
import { PATIENCE } from "../support/wait-for.js";
import { inLanguage, main, readme, top, workplace } from "./readme-blocks.js";

const run = promisify(execFile);
const dir = workplace();
const prefix = fresh("readme");
beforeAll(() => {
  expect(inject("buildError")).toBe("");
});
afterAll(async () => {
  rmSync(dir, { recursive: true });
  await call(consul, "DELETE", `/v1/kv/${prefix}/?recurse`);
});

const onTheServer = (text: string) => {
  const [host = "", port = ""] = consul.split(":");
  return text.replaceAll("127.0.0.1:8500/app", `${consul}/${prefix}`).replace("HOST", host).replace("PORT", port);
};
const SECTION = readme.slice(readme.indexOf("## Consul"), readme.indexOf("## Examples"));

/** By a part of each: what surrounds it, and what the run must print. */
const EXAMPLES = [
  {
    has: "fence(term.handle)",
    before: `import Consul from "consul";
import { Elector } from "tenure";
import { consul } from "tenure/consul";
const elector = new Elector({ store: consul("127.0.0.1:8500/app"), election: "fenced" });
elector.start();
const term = await elector.elected();
const client = new Consul({ host: "HOST", port: "PORT" });`,
    after: `const newer = new Promise((resolve) => elector.once("elected", resolve));
elector.resign();
await newer;
console.log(await client.transaction.create([...fence(term.handle)]).catch((error) => error.message));
await client.kv.del("state");
await elector.stop();
client.destroy();`,
    prints: /^conflict\n$/,
  },
  {
    has: "new Elector",
    before: "",
    after: `elector.on("warning", (error) => console.warn(error.message));
await elector.lead(async (term) => console.log("fence", term.token));`,
    prints: /^fence \d+\n$/,
  },
  { has: "lockDelay=500ms", before: "", after: `console.log("made");`, prints: /^made\n$/ },
];

describe("the README's examples on Consul", () => {
  const js = inLanguage("js").filter((text) => text.includes("tenure/consul"));

  it("are all known to this test", () => {
    expect(js.map((text) => EXAMPLES.filter(({ has }) => text.includes(has)).length)).toEqual(EXAMPLES.map(() => 1));
  });

  it.each(EXAMPLES)("run: $has", async ({ has, before, after, prints }) => {
    const file = join(dir, `${fresh("example")}.mjs`);
    writeFileSync(file, onTheServer(`${before}\n${js.find((text) => text.includes(has))}\n${after}`));
    expect((await run(process.execPath, [file], { timeout: 2 * PATIENCE })).stdout).toMatch(prints);
  });
});

describe("the README's commands on Consul", () => {
  it("of tenure run as they stand", async () => {
    const lines = inLanguage("sh").flatMap((text) => text.trim().split("\n"));
    const own = lines.filter((line) => line.startsWith("npx tenure ") && line.includes("consul://"));
    expect(own).toHaveLength(1);
    for (const line of own) {
      const [, , ...args] = onTheServer(line).split(" ");
      expect((await run(process.execPath, [main, ...args], { cwd: dir, timeout: 2 * PATIENCE })).stdout).toMatch(/^cron \d+ \n$/);
    }
  });

  it("of the tokens run as they stand, on a server with ACLs", async () => {
    const token = "5d3f8c9a-1111-4222-8333-944445555666";
    await using server = await startConsul({ managementToken: token });
    const { command } = await installConsul();
    const recipe = inLanguage("sh").find((text) => text.includes("acl policy create")) as string;
    const script = recipe
      .replaceAll("npx tenure", `"${process.execPath}" "${main}"`)
      .replaceAll("127.0.0.1:8500", server.address)
      .replaceAll("@docker/", `@${join(top, "docker")}/`);
    const env = {
      ...process.env,
      CONSUL_HTTP_ADDR: server.address,
      CONSUL_HTTP_TOKEN: token,
      PATH: `${dirname(command)}:${process.env.PATH}`,
    };
    expect((await run("sh", ["-e", "-c", script], { cwd: dir, env, timeout: 2 * PATIENCE })).stdout).toMatch(/\nguarded \d+ \n$/);
  });
});

describe("the README's section on Consul", () => {
  it("has every option, and no other", () => {
    const rows = [...SECTION.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell]) =>
      [...(cell as string).matchAll(/`(\w+)`/g)].map(([, name]) => name),
    );
    expect(rows.sort()).toEqual([...KEYS].sort());
  });
});
