/**
 * Longest time of one test or hook; none sets its own. A healthy test may take long on a busy machine; one that hangs fails
 * all the same.
 */
const timeoutMs = process.env["HOLDFAST_LONG"] === "1" ? 3_600_000 : 600_000;

/** Settings of every project of this repository; a project adds what is its own. */
export const shared = {
  include: ["test/**/*.test.ts"],
  // Loading the modules anew for every file would take longer than most of the tests.
  isolate: false,
  // Built packages run as they are; vite would take seconds to rewrite every file of theirs.
  server: { deps: { external: [/\/dist\//] } },
  testTimeout: timeoutMs,
  hookTimeout: timeoutMs,
};
