import { describe, expect, it } from "vitest";
import { byCreation, bySequence, needsCreationOrder, parseEntry, readListing, stand } from "../../adapters/zookeeper/zookeeper-queue.js";

const guid = (n: number) => n.toString(16).padStart(32, "0");
const entry = (n: number, sequence: string) => {
  const parsed = parseEntry(`${guid(n)}-${sequence}`);
  if (parsed === null) throw new Error(`not an entry: ${sequence}`);
  return parsed;
};

describe("names of entries", () => {
  it.each([
    ["0000000000", 0],
    ["0000000042", 42],
    ["2147483647", 2147483647],
    ["-2147483648", -2147483648],
    ["-000000001", -1],
    ["-999999999", -999999999],
  ])("reads the sequence %s", (digits, sequence) => {
    expect(parseEntry(`${guid(7)}-${digits}`)).toEqual({ name: `${guid(7)}-${digits}`, guid: guid(7), sequence });
  });

  it.each([
    "",
    "foo",
    "0000000001",
    `${guid(1)}-`,
    `${guid(1)}-000000001`,
    `${guid(1)}-00000000001`,
    `${guid(1)}-2147483648`,
    `${guid(1)}--2147483649`,
    `${guid(1)}-0000000001x`,
    `_c_6f1b2c7e-0000-4000-8000-000000000000-latch-0000000001`,
    `${guid(1).slice(1)}-0000000001`,
    `${"Z".repeat(32)}-0000000001`,
  ])("ignores the foreign name %j", (name) => {
    expect(parseEntry(name)).toBeNull();
  });

  it("keeps foreign names apart, so that none can be the lowest", () => {
    const ours = `${guid(1)}-0000000005`;
    expect(readListing(["0000000000", ours])).toEqual({ entries: [parseEntry(ours)], foreign: ["0000000000"] });
  });
});

describe("order", () => {
  it("is that of the sequence, whatever the GUIDs are", () => {
    const list = [entry(1, "0000000010"), entry(9, "0000000002"), entry(5, "0000000007")];
    expect(needsCreationOrder(list)).toBe(false);
    expect(bySequence(list).map((e) => e.sequence)).toEqual([2, 7, 10]);
  });

  it.each([
    ["negative", ["0000000001", "-2147483648"]],
    ["a small negative", ["-000000001"]],
    ["tied", ["0000000001", "0000000001"]],
    ["near the limit", [String(2 ** 31 - 2 ** 20)]],
  ])("needs the czxid of the whole list once one is %s", (_, sequences) => {
    expect(needsCreationOrder(sequences.map((s, n) => entry(n, s)))).toBe(true);
  });

  it("trusts the sequence just below the limit", () => {
    expect(needsCreationOrder([entry(1, String(2 ** 31 - 2 ** 20 - 1))])).toBe(false);
  });

  it("by creation: an entry from after the wrap comes after one from before it", () => {
    const before = entry(1, "2147483647");
    const after = entry(2, "-2147483648");
    const czxids = new Map([
      [before.name, 10n],
      [after.name, 11n],
    ]);
    expect(byCreation([after, before], czxids)).toEqual([before, after]);
  });

  it("by creation: leaves out an entry that has gone since the list", () => {
    const gone = entry(1, "2147483647");
    const left = entry(2, "2147483647");
    expect(byCreation([gone, left], new Map([[left.name, 3n]]))).toEqual([left]);
  });

  it("by creation: compares 64-bit numbers exactly", () => {
    const first = entry(1, "2147483647");
    const second = entry(2, "2147483647");
    const czxids = new Map([
      [first.name, 2n ** 60n],
      [second.name, 2n ** 60n + 1n],
    ]);
    expect(byCreation([second, first], czxids)).toEqual([first, second]);
  });
});

describe("where an entry stands", () => {
  const [a, b, c] = [entry(1, "0000000001"), entry(2, "0000000002"), entry(3, "0000000003")];

  it.each([
    ["gone, before anything else", b.name, b.name, [a, c], { kind: "gone" }],
    ["held", b.name, b.name, [a, b], { kind: "held" }],
    ["head: first, and the named entry is not listed", b.name, a.name, [b, c], { kind: "head" }],
    ["head: first, and nobody is named", a.name, null, [a, b], { kind: "head" }],
    ["behind the one just before, not the holder", c.name, a.name, [a, b, c], { kind: "behind", predecessor: b.name }],
    ["behind the one just before, though the seat is free", c.name, a.name, [b, c], { kind: "behind", predecessor: b.name }],
    ["behind the holder, should it come later", a.name, c.name, [a, b, c], { kind: "behind", predecessor: c.name }],
  ] as const)("%s", (_, mine, named, order, standing) => {
    expect(stand(mine, named, order)).toEqual(standing);
  });
});
