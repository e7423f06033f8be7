import { describe, expect, it } from "vitest";
import { FrameSplitter } from "../../adapters/zookeeper/client/zookeeper-client-frames.js";

function frame(text: string): Buffer {
  const bytes = Buffer.alloc(4 + text.length);
  bytes.writeInt32BE(text.length);
  bytes.write(text, 4);
  return bytes;
}

function split(chunks: Buffer[]): string[] {
  const frames: string[] = [];
  const splitter = new FrameSplitter((bytes) => frames.push(bytes.toString("latin1", 4)));
  for (const chunk of chunks) splitter.push(chunk);
  return frames;
}

describe("cutting a stream into frames", () => {
  const texts = ["a", "", "bcd", "x".repeat(300)];
  const stream = Buffer.concat(texts.map(frame));

  it.each([1, 2, 3, 5, 7, 64, 1000])("gives the same frames from chunks of %i bytes", (size) => {
    const chunks: Buffer[] = [];
    for (let from = 0; from < stream.length; from += size) chunks.push(stream.subarray(from, from + size));
    expect(split(chunks)).toEqual(texts);
  });

  it("takes 200,000 small frames in one chunk, without a copy or a recursion for each", () => {
    const one = frame("0123456789");
    const many = Buffer.alloc(one.length * 200_000, one);
    const before = performance.now();
    expect(split([many]).length).toBe(200_000);
    // One copy of the rest for each frame would be 280 GB.
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  it("takes a large frame in many chunks without a copy of what it has for each", () => {
    const large = frame("y".repeat(8_000_000));
    const chunks = Array.from({ length: 8001 }, (_, i) => large.subarray(i * 1000, (i + 1) * 1000));
    const before = performance.now();
    expect(split(chunks).map(({ length }) => length)).toEqual([8_000_000]);
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  it.each(["HTTP/1.1 400 Bad Request\r\n", "\xff\xff\xff\xff"])("refuses what is not ZooKeeper's: %j", (text) => {
    expect(() => split([Buffer.from(text, "latin1")])).toThrow("not ZooKeeper's");
  });
});
