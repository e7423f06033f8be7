import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration, parseDurationText } from "../../src/duration.js";
import { ConfigError } from "../../src/errors.js";

describe("parseDuration", () => {
  it.each([
    [0, 0],
    [1500, 1500],
    [0.5, 0.5],
    ["250ms", 250],
    ["5s", 5000],
    ["1.5s", 1500],
    ["2m", 120_000],
    ["1h", 3_600_000],
  ])("reads %j as %d ms", (value, ms) => {
    expect(parseDuration("drain", value)).toBe(ms);
  });

  it.each([
    [-1, "-1"],
    [Number.NaN, "NaN"],
    [Number.POSITIVE_INFINITY, "Infinity"],
    ["5", '"5"'],
    ["5 s", '"5 s"'],
    [" 5s", '" 5s"'],
    ["-5s", '"-5s"'],
    ["5S", '"5S"'],
    ["1h30m", '"1h30m"'],
    [".5s", '".5s"'],
    ["5e3ms", '"5e3ms"'],
    ["", '""'],
    [null, "null"],
    [undefined, "undefined"],
    [{}, "an object"],
    [true, "true"],
    [`${"9".repeat(20)}h`, `${"9".repeat(20)}h`],
  ])("refuses %j and says what came", (value, shown) => {
    const failure = thrown(() => parseDuration("drain", value));
    expect(failure).toBeInstanceOf(ConfigError);
    expect(failure).toMatchObject({ code: "config", option: "drain" });
    expect(failure.message).toMatch(/^drain: expected /);
    expect(failure.message).toContain(shown);
  });
});

describe("parseDurationText", () => {
  it("requires the unit", () => {
    expect(parseDurationText("--drain", "30s")).toBe(30_000);
    expect(thrown(() => parseDurationText("--drain", "30")).message).toBe(
      '--drain: expected a number with its unit, such as "250ms", "5s", "2m" or "1h", got "30"',
    );
  });
});

describe("formatDuration", () => {
  it.each([
    [0, "0ms"],
    [250, "250ms"],
    [1500, "1500ms"],
    [5000, "5s"],
    [90_000, "90s"],
    [120_000, "2m"],
    [7_200_000, "2h"],
  ])("writes %d as %s, which reads back", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
    expect(parseDurationText("x", text)).toBe(ms);
  });
});

function thrown(fn: () => unknown): Error {
  try {
    fn();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}
