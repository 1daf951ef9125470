import { after, describe, test } from "node:test";

/** The little that the suites need of a test runner. */
export interface Runner {
  /** Name of the runner. */
  readonly name: "vitest" | "node:test";
  /** Groups the tests that `body` registers. */
  describe(title: string, body: () => void): void;
  /** Registers one test; it fails when `body` throws, rejects or takes longer than `timeoutMs`. */
  test(title: string, timeoutMs: number, body: () => void | Promise<void>): void;
}

/** The module `vitest` in the process of a test; `import.meta.vitest` of tests inside a source file is the same. */
const vitest = (globalThis as { __vitest_index__?: typeof import("vitest") }).__vitest_index__;

/**
 * The runner this process runs under: vitest, else Node's own.
 *
 * Vitest is not imported: plain programs use this package without it, and waiting for an import would keep the package from
 * `require()` and from CommonJS bundles.
 */
export const runner: Runner = vitest === undefined ? nodeRunner() : vitestRunner(vitest);

/** Number of cases that did not end in time: what they wait for may be there for ever. */
let timeouts = 0;

/** Takes in that a case did not end in time. */
export function caseTimedOut(): void {
  timeouts++;
}

/** Ends a process in which cases still wait for something: Node's runner would wait with them. Its reports get a moment. */
function endAfterTimeouts(): void {
  if (timeouts > 0) setTimeout(() => process.exit(1), 2_000).unref();
}

function vitestRunner({ describe, test }: typeof import("vitest")): Runner {
  return {
    name: "vitest",
    describe: (title, body) => void describe(title, body),
    test: (title, timeoutMs, body) => void test(title, { timeout: timeoutMs }, body),
  };
}

function nodeRunner(): Runner {
  let suitesLeft = 0;
  return {
    name: "node:test",
    describe(title, body) {
      suitesLeft++;
      void describe(title, () => {
        body();
        after(() => {
          suitesLeft--;
          if (suitesLeft === 0) endAfterTimeouts();
        });
      });
    },
    test: (title, timeoutMs, body) => void test(title, { timeout: timeoutMs }, () => body()),
  };
}
