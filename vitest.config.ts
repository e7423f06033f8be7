import { defineConfig } from "vitest/config";

/** What needs neither Java nor a build. */
const PURE = ["test/unit/**/*.test.ts", "test/simulation/**/*.test.ts"];
/** What needs a real Consul. */
const CONSUL = ["test/**/*consul*.test.ts"];

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    retry: 0,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      { extends: true, test: { name: "unit", include: PURE } },
      {
        extends: true,
        test: {
          name: "real",
          include: ["test/**/*.test.ts"],
          exclude: [...PURE, ...CONSUL],
          globalSetup: "test/support/global-setup.ts",
        },
      },
      {
        extends: true,
        test: {
          name: "consul",
          include: CONSUL,
          exclude: PURE,
          globalSetup: "test/support/consul-setup.ts",
          setupFiles: "test/support/consul.ts",
          // After all others: the first time on a machine Consul must be built, which goes on while those run.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
