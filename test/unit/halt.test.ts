import { describe, expect, it } from "vitest";
import type { Ender } from "../../src/clock.js";
import { Halt, LazySignal } from "../../src/halt.js";

describe("a halt", () => {
  it.each([
    ["a halt", () => new Halt()],
    ["an AbortSignal", () => new AbortController()],
  ] as const)("calls as %s does: each once, not who was removed, not who comes late", (_, make) => {
    const maker = make();
    const ender: Ender = maker instanceof Halt ? maker : maker.signal;
    const calls: string[] = [];
    const third = () => void calls.push("third");
    const object = { handleEvent: () => void calls.push("object") };
    ender.addEventListener(
      "abort",
      () => {
        calls.push("first");
        ender.removeEventListener("abort", third);
      },
      { once: true },
    );
    ender.addEventListener("abort", object, { once: true });
    ender.addEventListener("abort", object, { once: true });
    ender.addEventListener("abort", third, { once: true });
    maker.abort("why");
    maker.abort("again");
    ender.addEventListener("abort", () => void calls.push("late"), { once: true });
    expect(calls).toEqual(["first", "object"]);
    expect([ender.aborted, ender.reason]).toEqual([true, "why"]);
  });
});

describe("a listener that throws", () => {
  it.each([
    ["a halt", () => new Halt()],
    ["an AbortSignal", () => new AbortController()],
  ] as const)("keeps nobody else from being called, and is heard of where uncaught errors are: %s", async (_, make) => {
    const maker = make();
    const ender: Ender = maker instanceof Halt ? maker : maker.signal;
    const calls: string[] = [];
    const error = new Error("a mistake");
    const failing = () => {
      throw error;
    };
    for (const listener of [failing, () => void calls.push("second")]) ender.addEventListener("abort", listener, { once: true });
    const uncaught = await uncaughtBy(() => maker.abort("why"));
    expect(calls).toEqual(["second"]);
    expect(uncaught).toEqual([error]);
  });
});

/** What `act` leads to that nobody catches; it is not left to the test runner. */
async function uncaughtBy(act: () => void): Promise<unknown[]> {
  const others = process.listeners("uncaughtException");
  const uncaught: unknown[] = [];
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (error) => uncaught.push(error));
  try {
    act();
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.removeAllListeners("uncaughtException");
    for (const listener of others) process.on("uncaughtException", listener);
  }
  return uncaught;
}

describe("a signal that is made when asked for", () => {
  it.each([true, false])("is aborted with one reason (asked before: %s)", (before) => {
    const lazy = new LazySignal();
    const early = before ? lazy.signal : null;
    let made = 0;
    lazy.abort(() => ++made);
    lazy.abort(() => "another");
    expect(made).toBe(before ? 1 : 0);
    expect([lazy.signal.aborted, lazy.signal.reason]).toEqual([true, 1]);
    expect(early ?? lazy.signal).toBe(lazy.signal);
    expect(made).toBe(1);
  });
});
