import { afterEach, describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import { Elector } from "../../src/elector.js";
import { ConfigError } from "../../src/errors.js";
import { inspect } from "../../src/inspect.js";
import { ManualClock } from "../../src/manual-clock.js";
import { observe } from "../../src/observer.js";
import type { ElectorOptions } from "../../src/options.js";

const store = memory({ clock: new ManualClock() });

afterEach(() => expect(store.requests()).toBe(0));

function refusal(options: Record<string, unknown>): ConfigError {
  try {
    new Elector({ store, election: "seat", ...options } as unknown as ElectorOptions);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("it was accepted");
}

describe("names of elections", () => {
  it.each([
    ["with a slash", "a/b", `"a/b"`],
    ["of one dot", ".", `"."`],
    ["of two dots", "..", `".."`],
    ["empty", "", `""`],
    ["of 300 characters", "x".repeat(300), "(302 characters)"],
    ["of 201 characters", "x".repeat(201), "(203 characters)"],
    ["in unicode", "wähler", `"wähler"`],
    ["with a homoglyph", "invоices", "invоices"],
    ["with an underscore in front", "_session", `"_session"`],
    ["with a line break at the end", "seat\n", `"seat\\n"`],
    ["with a zero byte", "a\0b", `\\u0000`],
    ["with a blank", "a b", `"a b"`],
    ["a number", 7, "7"],
    ["missing", undefined, "undefined"],
    ["null", null, "null"],
    ["an object without text", Object.create(null), "cannot be shown"],
    ["a symbol", Symbol("seat"), "Symbol(seat)"],
  ])("%s: refused, naming option, expectation and value", (_, election, shown) => {
    const error = refusal({ election });
    expect(error.option).toBe("election");
    expect(error.message).toContain("election: expected a name of 1 to 200 of the characters A-Z a-z 0-9 . _ -");
    expect(error.message).toContain(shown);
    expect(() => observe(store, election as string)).toThrow(ConfigError);
  });

  it("are refused by inspect, too", async () => {
    await expect(inspect(store, "a/b")).rejects.toThrow(ConfigError);
  });

  it.each(["a", "a.b", "...", "a_", "-", "Invoices-2.eu_west", "x".repeat(200)])("%s is taken", (election) => {
    expect(new Elector({ store, election }).election).toBe(election);
  });
});

describe("other options", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;

  it.each([
    ["store", undefined, /a store, such as zookeeper.*undefined/],
    ["store", "zk1:2181", /a store, such as zookeeper.*"zk1:2181"/],
    ["store", {}, /a store/],
    ["id", "", /1 to 200 characters, got ""/],
    ["id", "x".repeat(201), /1 to 200 characters/],
    ["id", 7, /a string.*got 7/],
    ["metadata", "text", /a plain object, got "text"/],
    ["metadata", [1], /a plain object/],
    ["metadata", new Date(0), /a plain object/],
    ["metadata", () => 1, /a plain object/],
    ["metadata", { toJSON: () => undefined }, /a plain object/],
    ["metadata", { big: 1n }, /JSON can hold/],
    ["metadata", cyclic, /JSON can hold/],
    ["metadata", { text: "x".repeat(65_536) }, /at most 65536 bytes of JSON, got 65547/],
    ["drain", -1, /-1/],
    ["drain", Number.NaN, /NaN/],
    ["drain", Number.POSITIVE_INFINITY, /Infinity/],
    ["drain", "30", /unit.*"30"/],
    ["drain", null, /null/],
    ["reserve", "5 s", /"5 s"/],
    ["reserve", "-5s", /"-5s"/],
    ["reserve", {}, /an object/],
    ["overrun", "crash", /"event" or "exit", got "crash"/],
    ["logger", console.log, /debug, info, warn and error/],
    ["logger", {}, /debug, info, warn and error/],
    ["clock", {}, /mono, wall, after and random/],
    ["timeout", 5, /no such option; there are store, election, id/],
    ["Store", store, /no such option/],
  ])("%s: a value that cannot be used (case %#)", (option, value, message) => {
    const error = refusal({ [option]: value });
    expect(error.option).toBe(option);
    expect(error.code).toBe("config");
    expect(error.message.startsWith(`${option}: `)).toBe(true);
    expect(error.message).toMatch(message);
  });

  it("no object at all is a TypeError", () => {
    for (const options of [undefined, null, "zk1:2181"]) expect(() => new Elector(options as never)).toThrow(TypeError);
  });

  it("have defaults: an id of its own for each, no metadata", () => {
    const [a, b] = [new Elector({ store, election: "seat" }), new Elector({ store, election: "seat" })];
    expect(a.id).not.toBe(b.id);
    expect(a.id.length).toBeLessThanOrEqual(200);
    expect(a.metadata).toEqual({});
    expect([a.state, a.isLeader, a.term]).toEqual(["idle", false, null]);
  });

  it("metadata is copied as JSON", () => {
    const metadata = { zone: "eu", port: 80, gone: undefined, nested: { list: [1, "2"] } };
    const elector = new Elector({ store, election: "seat", metadata });
    metadata.zone = "us";
    expect(elector.metadata).toEqual({ zone: "eu", port: 80, nested: { list: [1, "2"] } });
  });
});
