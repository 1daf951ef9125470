import { defineProject } from "vitest/config";

export default defineProject({
  test: {
    include: ["test/**/*.test.ts"],
    // Loading the modules anew for every file would take longer than most of the tests.
    isolate: false,
    // Built packages run as they are; vite would take seconds to rewrite every file of theirs.
    server: { deps: { external: [/\/dist\//] } },
    // Hundreds of sessions on a busy machine: a test that hangs fails all the same.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
