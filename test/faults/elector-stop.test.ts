import { expect, inject, it } from "vitest";
import { allSteps, FAULTS, type Step, stopAt } from "./support/scenarios/stop-anywhere.js";

const server = inject("zookeeper");

it("a process that is told to stop at any step ends by itself and leaves no entry", { timeout: 600_000 }, async () => {
  // Each request has one of the faults here, and all of them in the soak.
  const steps = (await allSteps(server)).filter(({ fault }, index) => fault === FAULTS[Math.floor(index / FAULTS.length) % FAULTS.length]);
  expect(steps.length).toBeGreaterThan(20);
  const problems: string[] = [];
  const some = async () => {
    for (let step = steps.pop(); step; step = steps.pop()) problems.push(...(await stopAt(server, step as Step)).problems);
  };
  await Promise.all([some(), some(), some(), some()]);
  expect(problems).toEqual([]);
});
