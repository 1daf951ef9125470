import { defineProject } from "vitest/config";

export default defineProject({
  test: {
    name: "cost",
    include: ["**/*.test.ts"],
    globalSetup: ["../servers.setup.ts"],
    // After all others: what something costs shows only where nothing else runs.
    sequence: { groupOrder: 1 },
    fileParallelism: false,
  },
});
