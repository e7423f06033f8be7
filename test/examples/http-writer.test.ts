import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { freePort } from "../support/free-port.js";
import { fresh } from "../support/names.js";
import { until } from "../support/wait-for.js";
import { Example } from "./example.js";

const example = new Example("http-writer");
beforeAll(() => example.build(), 120_000);
afterAll(() => example.dispose());
afterEach(() => example.stopAll());

const put = (url: string, body: string, redirect: "follow" | "manual" = "follow") => fetch(url, { method: "PUT", body, redirect });
const read = async (url: string) => (await fetch(url)).text();

describe("the HTTP service", () => {
  it("serves reads everywhere, and writes on the leader only, also after the leader was killed or stopped", async () => {
    const root = fresh("http");
    const ledger = join(example.folder, "ledger.json");
    const begin = async (id: string) => {
      const port = await freePort();
      const env = {
        ZOOKEEPER: `zookeeper://${inject("zookeeper")}?root=/${root}&sessionTimeout=6s&tickTime=500ms`,
        PORT: String(port),
        LEDGER: ledger,
      };
      return { program: example.start(id, env), url: `http://127.0.0.1:${port}/ledger` };
    };
    const a = await begin("a");
    await a.program.wrote(/a: leading/);
    const b = await begin("b");
    await b.program.wrote(/b: standby/);

    const sent = await until(() => put(b.url, "one", "manual").then((got) => got.status === 307 && got), { what: "b knows the leader" });
    expect(sent.headers.get("location")).toBe(a.url);
    expect(await read(a.url)).toBe("\n");
    const written = await put(b.url, "one");
    expect([written.status, written.url]).toEqual([200, a.url]);
    const first = BigInt(/written by a with fence (\d+)/.exec(await written.text())?.[1] as string);
    expect([await read(a.url), await read(b.url)]).toEqual(["one\n", "one\n"]);

    a.program.kill("SIGKILL");
    await b.program.wrote(/b: leading/);
    const again = await put(b.url, "two");
    expect(again.status).toBe(200);
    const second = BigInt(/written by b with fence (\d+)/.exec(await again.text())?.[1] as string);
    expect(second).toBeGreaterThan(first);

    const c = await begin("c");
    await c.program.wrote(/c: standby/);
    b.program.kill("SIGTERM");
    await c.program.wrote(/c: leading/);
    expect(await b.program.ended()).toEqual({ code: 0, signal: null });
    expect(await read(c.url)).toBe("two\n");
    expect((await put(c.url, "three")).status).toBe(200);

    // As a writer finds it that was paused while others led.
    writeFileSync(ledger, JSON.stringify({ text: "newer", fence: String(second * 1000n) }));
    const late = await put(c.url, "late");
    expect([late.status, await late.text()]).toEqual([503, expect.stringContaining("is older than")]);
    expect(await read(c.url)).toBe("newer\n");
  });

  it("answers 503 for writes while nobody leads", async () => {
    const port = await freePort();
    const program = example.start("a", {
      ZOOKEEPER: `127.0.0.1:${await freePort()}`,
      PORT: String(port),
      LEDGER: join(example.folder, "none.json"),
    });
    await program.wrote(/a: serving/);
    const answer = await put(`http://127.0.0.1:${port}/ledger`, "x");
    expect([answer.status, answer.headers.get("retry-after"), await answer.text()]).toEqual([503, "1", "nobody leads just now\n"]);
    expect(await read(`http://127.0.0.1:${port}/ledger`)).toBe("\n");
  });
});
