import { defineConfig } from "vitest/config";

/** What needs neither Java nor a build. */
const PURE = ["test/unit/**/*.test.ts", "test/simulation/**/*.test.ts"];

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
          exclude: PURE,
          globalSetup: "test/support/global-setup.ts",
        },
      },
    ],
  },
});
