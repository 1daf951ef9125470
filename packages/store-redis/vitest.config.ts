import { defineProject } from "vitest/config";

export default defineProject({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/redis.setup.ts"],
    // Real servers on a busy machine: a test that hangs fails all the same.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
