import { describe, expect, it } from "vitest";
import { ConsulChaos } from "./consul-chaos.js";

const SEEDS = Number(process.env.SEEDS ?? 100);
const FROM = Number(process.env.FROM ?? 1);

describe("random mishaps on a model of Consul", () => {
  it("never two leaders at one time, fences that rise, nothing left behind; healed, a leader soon and one place each", {
    timeout: 600_000,
  }, async () => {
    let elections = 0;
    for (let seed = FROM; seed < FROM + SEEDS; seed++) {
      const chaos = new ConsulChaos(seed);
      await chaos.run(30);
      elections += chaos.elections;
    }
    expect(elections).toBeGreaterThan(SEEDS);
  });
});
