import { defineConfig } from "vitest/config";

/** For `npm run soak -- zookeeper` and `npm run soak -- consul`: the counted runs, one after another. Their own lines are the report. */
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    pool: "forks",
    maxWorkers: 1,
    retry: 0,
    reporters: ["dot"],
    disableConsoleIntercept: true,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: { name: "zookeeper", include: ["test/soak/zookeeper*.soak.ts"], globalSetup: "test/support/global-setup.ts" },
      },
      {
        extends: true,
        test: {
          name: "consul",
          include: ["test/soak/consul*.soak.ts"],
          globalSetup: "test/support/consul-setup.ts",
          setupFiles: "test/support/consul.ts",
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
