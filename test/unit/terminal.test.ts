import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { asker } from "../../src/cli/ask.js";
import { progressOn } from "../../src/cli/progress.js";
import { ManualClock } from "../../src/manual-clock.js";

function terminal(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), { isTTY });
  let text = "";
  stream.on("data", (chunk) => {
    text += chunk;
  });
  return { stream: stream as never, write: (line: string) => stream.write(line), end: () => stream.end(), text: () => text };
}

describe("asking on a terminal", () => {
  it.each([
    ["y", true],
    ["YES", true],
    ["n", false],
    ["", false],
    ["yesterday", false],
  ])("takes %j for %j", async (answer, expected) => {
    const [input, output] = [terminal(true), terminal(true)];
    const asked = asker(input.stream, output.stream)("Sure?");
    input.write(`${answer}\n`);
    expect(await asked).toBe(expected);
    expect(output.text()).toContain("Sure? [y/N] ");
  });

  it("takes the end of the input for no", async () => {
    const [input, output] = [terminal(true), terminal(true)];
    const asked = asker(input.stream, output.stream)("Sure?");
    input.end();
    expect(await asked).toBe(false);
  });

  it("asks nobody where nobody sits", async () => {
    for (const [there, seen] of [
      [true, false],
      [false, true],
    ] as const) {
      const output = terminal(seen);
      expect(await asker(terminal(there).stream, output.stream)("Sure?")).toBe(null);
      expect(output.text()).toBe("");
    }
  });
});

describe("progress", () => {
  it("is shown on a terminal, of what takes long, and leaves no trace", async () => {
    const clock = new ManualClock();
    const output = terminal(true);
    const progress = progressOn(output.stream, clock);
    progress.show(1, 1000);
    await clock.advance(400);
    expect(output.text()).toBe("");
    progress.show(200, 1000);
    await clock.advance(100);
    expect(output.text()).toBe("\r\u001b[K200 of 1000 elections read");
    progress.end();
    await clock.advance(5000);
    expect(output.text()).toBe("\r\u001b[K200 of 1000 elections read\r\u001b[K");
    expect(clock.pending).toBe(0);
  });

  it("is not shown of what is over soon, nor to a file", async () => {
    const clock = new ManualClock();
    for (const output of [terminal(true), terminal(false)]) {
      const progress = progressOn(output.stream, clock);
      progress.show(1, 2);
      if (clock.pending === 0) await clock.advance(5000);
      progress.end();
      await clock.advance(5000);
      expect(output.text()).toBe("");
    }
  });
});
