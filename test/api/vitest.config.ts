import { defineProject } from "vitest/config";
import { shared } from "../../vitest.shared.js";

// A project of its own: `npm run api` writes the reports, and needs no servers for it.
export default defineProject({
  test: {
    ...shared,
    name: "api",
    include: ["**/*.test.ts"],
  },
});
