import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: ["packages/*", "test", "test/cost"],
    reporters: ["default", "./scripts/tally-reporter.mjs"],
    // Many tests wait for servers and processes of their own: on two cores three workers keep both busy.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
  },
});
