import { describe, expect, it } from "vitest";
import { Chaos } from "./support/chaos.js";

const SEEDS = 160;

describe("random mishaps", () => {
  it("never two leaders at one time, fences that rise, no seat given away under work; healed, a leader soon and one entry each", {
    timeout: 60_000,
  }, async () => {
    let checks = 0;
    let elections = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const chaos = new Chaos(seed);
      await chaos.run(30);
      checks += chaos.checks;
      elections += chaos.elections;
    }
    expect(elections).toBeGreaterThan(SEEDS);
    expect(checks).toBeGreaterThan(SEEDS * 30);
  });
});
