/** The little that the suites need of a test runner. */
export interface Runner {
  /** Name of the runner. */
  readonly name: "vitest" | "node:test";
  /** Groups the tests that `body` registers. */
  describe(title: string, body: () => void): void;
  /** Registers one test; it fails when `body` throws, rejects or takes longer than `timeoutMs`. */
  test(title: string, timeoutMs: number, body: () => void | Promise<void>): void;
}

/**
 * The runner this process runs under: vitest, else Node's own.
 *
 * Imported on demand, so that plain programs can use this package without vitest installed, and at the top level, so
 * that suites can be declared synchronously.
 */
export const runner: Runner =
  process.env["VITEST"] === undefined ? await nodeRunner() : await vitestRunner();

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

async function vitestRunner(): Promise<Runner> {
  const { describe, test } = await import("vitest");
  return {
    name: "vitest",
    describe: (title, body) => void describe(title, body),
    test: (title, timeoutMs, body) => void test(title, { timeout: timeoutMs }, body),
  };
}

async function nodeRunner(): Promise<Runner> {
  const { after, describe, test } = await import("node:test");
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
