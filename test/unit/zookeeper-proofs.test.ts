import { describe, expect, it } from "vitest";
import { ProofRecord } from "../../adapters/zookeeper/client/zookeeper-proofs.js";

const TTL = 4000;
const GAP = 1100;
const at = (mono: number, wall = mono) => ({ mono, wall });

/** One that has noted `[sent, arrived]`, after a handshake at 0. */
function record(...replies: [sent: number, arrived: number][]): ProofRecord {
  const proofs = new ProofRecord(at(0), TTL);
  for (const [sent, arrived] of replies) proofs.answered(at(sent), arrived);
  return proofs;
}

describe("what a proof vouches for", () => {
  it("is the handshake, while nothing else was answered", () => {
    expect(record().vouchedAt(5000, GAP)).toEqual(at(0));
  });

  it("is not the sending of the proof itself, nor of what was answered less than the gap before", () => {
    expect(record([1000, 1010]).vouchedAt(1010 + GAP - 1, GAP)).toEqual(at(0));
  });

  it("is the newest request whose reply had arrived the gap before", () => {
    expect(record([1000, 1010], [2000, 2010], [3000, 3010]).vouchedAt(2010 + GAP, GAP)).toEqual(at(2000));
  });

  it("is not an older request because its reply arrived together with a newer one, after a stall", () => {
    expect(record([1000, 3000], [2900, 3001]).vouchedAt(3500, GAP)).toEqual(at(0));
  });

  it("does not count a step of the wall clock as time that has passed", () => {
    const proofs = new ProofRecord(at(0), TTL);
    proofs.answered(at(1000, 1000), 1010);
    proofs.answered(at(1500, 900_000), 1510);
    expect(proofs.vouchedAt(1010 + GAP, GAP)).toEqual(at(1000));
  });

  it("is never younger than the rule allows, and at most a grain older, whatever the traffic", () => {
    const proofs = new ProofRecord(at(0), TTL);
    const replies: [number, number][] = [];
    let seed = 7;
    const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    let sent = 0;
    let arrived = 0;
    for (let i = 0; i < 20_000; i++) {
      sent += random() < 0.01 ? random() * 1500 : random() * 2;
      arrived = Math.max(arrived, sent) + (random() < 0.005 ? random() * 2000 : random());
      if (arrived > 60_000) break;
      proofs.answered(at(sent), arrived);
      replies.push([sent, arrived]);
      if (random() > 0.2) continue;
      const exact = replies.findLast(([, came]) => arrived - came >= GAP)?.[0] ?? 0;
      const grainOlder = replies.findLast(([, came]) => arrived - came >= GAP + TTL / 128)?.[0] ?? 0;
      const { mono } = proofs.vouchedAt(arrived, GAP);
      expect(mono).toBeLessThanOrEqual(exact);
      expect(mono).toBeGreaterThanOrEqual(grainOlder);
    }
    expect(replies.length).toBeGreaterThan(1000);
  });
});
