import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: ["packages/*", "test", "test/api"],
    reporters: ["default", "./scripts/figures-reporter.mjs", "./scripts/tally-reporter.mjs"],
    // Many tests wait for processes and servers of their own, so that one worker per core leaves cores idle.
    maxWorkers: availableParallelism() * 3,
  },
});
