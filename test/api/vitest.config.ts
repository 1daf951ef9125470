import { defineProject } from "vitest/config";

// A project of its own: `npm run api` writes the reports, and needs no servers for it.
export default defineProject({
  test: {
    name: "api",
    include: ["**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
