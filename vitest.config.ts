import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import { shared } from "./vitest.shared.js";

/** Packages whose tests need servers, a set-up, globals or a process of their own. */
const apart = ["cli", "otel", "store-json", "store-mysql", "store-redis", "testing"];

export default defineConfig({
  test: {
    projects: [
      // Workers go from file to file, but never to another project: one for all packages starts six of them instead of ninety.
      {
        test: {
          ...shared,
          name: "packages",
          include: ["packages/*/test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...apart.map((name) => `packages/${name}/**`)],
        },
      },
      ...apart.map((name) => `packages/${name}`),
      "test",
      "test/api",
    ],
    reporters: ["default", "./scripts/figures-reporter.mjs", "./scripts/tally-reporter.mjs"],
    // Many tests wait for processes and servers of their own, so that one worker per core leaves cores idle.
    maxWorkers: availableParallelism() * 3,
  },
});
