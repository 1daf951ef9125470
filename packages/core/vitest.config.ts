import { defineProject } from "vitest/config";

export default defineProject({
  test: {
    include: ["test/**/*.test.ts"],
    // Loading the modules anew for every file would take longer than most of the tests.
    isolate: false,
  },
});
