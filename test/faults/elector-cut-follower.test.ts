import { expect, it } from "vitest";
import { cutFollower, GROUPS } from "./support/scenarios/cut-follower.js";

it("the clients of a follower that is cut off stop to lead before the ensemble gives their seats away", async () => {
  const verdicts = await cutFollower(5);
  expect([...verdicts.keys()]).toEqual(GROUPS);
  for (const { problems } of [...verdicts.values()].flat()) expect(problems).toEqual([]);
}, 600_000);
