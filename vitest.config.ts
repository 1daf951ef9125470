import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";
import { shared } from "./vitest.shared.js";

/** Packages whose tests need globals, a process or a server of their own. */
const apart = ["otel", "store-redis", "testing"];
/** Packages whose tests use the run's Redis and MariaDB, or leave files behind for a set-up to remove. */
const served = ["cli", "store-json", "store-mysql"];

export default defineConfig({
  test: {
    // Workers go from file to file, but never to another project, and half a second goes by until one has started: few
    // projects start few of them, and few servers.
    projects: [
      {
        test: {
          ...shared,
          name: "packages",
          include: ["packages/*/test/**/*.test.ts"],
          exclude: [
            ...configDefaults.exclude,
            ...[...apart, ...served].map((name) => `packages/${name}/**`),
          ],
        },
      },
      {
        test: {
          ...shared,
          name: "servers",
          include: [
            "test/**/*.test.ts",
            ...served.map((name) => `packages/${name}/test/**/*.test.ts`),
          ],
          exclude: [...configDefaults.exclude, "test/api/**"],
          globalSetup: ["test/servers.setup.ts"],
          setupFiles: ["packages/store-json/test/remove-roots.setup.ts"],
        },
      },
      ...apart.map((name) => `packages/${name}`),
      "test/api",
    ],
    reporters: ["default", "./scripts/figures-reporter.mjs", "./scripts/tally-reporter.mjs"],
    // Many tests wait for processes and servers of their own, so that one worker per core leaves cores idle.
    maxWorkers: availableParallelism() * 3,
  },
});
