import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: ["packages/*", "test", "test/cost"],
    reporters: ["default", "./scripts/tally-reporter.mjs"],
    // Many tests wait for processes of their own; vitest would leave one core for itself.
    maxWorkers: "100%",
  },
});
