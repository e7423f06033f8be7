import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fresh } from "../support/names.js";
import { Example, fenceOf, type Program, timeOf } from "./example.js";

const example = new Example("nestjs");
beforeAll(() => example.build(), 120_000);
afterAll(() => example.dispose());

describe("the NestJS module", () => {
  let a: Program;
  let b: Program;
  beforeEach(async () => {
    [a, b] = await example.startTwo(fresh("nestjs"));
  });
  afterEach(() => example.stopAll());

  it("runs what is @LeaderOnly() on the leader, and hands the seat over at shutdown, when that has ended", async () => {
    const first = await a.wrote(/a: posted, fence \d+/);
    await b.wrote(/b: not posted: b does not lead/);
    await a.wrote(/a: posting/, a.lines.length);
    a.kill("SIGTERM");
    expect(await a.ended()).toEqual({ code: null, signal: "SIGTERM" });
    const texts = a.lines.map(({ text }) => text);
    expect(texts.filter((text) => /posting/.test(text)).length).toBe(texts.filter((text) => /posted, /.test(text)).length);
    const next = await b.wrote(/b: posting, fence \d+/);
    expect(timeOf(next)).toBeGreaterThanOrEqual(timeOf(a.lines.filter(({ text }) => /posted, /.test(text)).at(-1)));
    expect(fenceOf(next)).toBeGreaterThan(fenceOf(first));
  });

  it("has another process lead when the leader was killed", async () => {
    const first = await a.wrote(/a: posted, fence \d+/);
    a.kill("SIGKILL");
    expect(fenceOf(await b.wrote(/b: posted, fence \d+/))).toBeGreaterThan(fenceOf(first));
  });
});
