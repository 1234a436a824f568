import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/packed-folder.ts"],
    pool: "forks",
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    // The command colours what it prints where CI is set.
    env: { NO_COLOR: "1" },
  },
});
