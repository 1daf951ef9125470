import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: ["packages/*", "test"],
    reporters: ["default", "./scripts/tally-reporter.mjs"],
  },
});
