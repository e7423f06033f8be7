import { expect, inject, it } from "vitest";
import { cycles } from "./chaos.js";

it("never two commands at a time, and none left: the wrapper is killed and stopped, and the server restarted", async () => {
  expect(inject("buildError")).toBe("");
  const report = await cycles(3, { blows: ["STOP wrapper", "KILL wrapper", "restart server"] });
  expect(report.violations).toEqual([]);
  expect(report.commands).toBeGreaterThanOrEqual(3);
});
