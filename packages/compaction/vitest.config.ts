import { defineProject } from "vitest/config";

export default defineProject({
  test: {
    include: ["test/**/*.test.ts"],
    // Property tests of thousands of cases on a busy machine: a test that hangs fails all the same.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
