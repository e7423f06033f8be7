import { defineConfig } from "vitest/config";

/** For `npm run soak -- zookeeper`: the counted runs, one after another. Their own lines are the report. */
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/soak/*.soak.ts"],
    globalSetup: "test/support/global-setup.ts",
    pool: "forks",
    maxWorkers: 1,
    retry: 0,
    reporters: ["dot"],
    disableConsoleIntercept: true,
    hookTimeout: 60_000,
  },
});
