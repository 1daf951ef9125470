// Vitest reporter: the last line of a run is `N passed, N failed` (and `, N skipped` if any).
// It is written when the process exits, so it also comes when no test ran, and it never says
// "0 failed" on a run that exits with an error.
export default class TallyReporter {
  #tally = { passed: 0, failed: 0, skipped: 0 };

  onInit() {
    process.once("exit", (code) => process.stdout.write(`${lineFor(this.#tally, code)}\n`));
  }

  /**
   * @param {ReadonlyArray<import("vitest/node").TestModule>} modules
   * @param {ReadonlyArray<unknown>} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    this.#tally = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      this.#countErrors(module);
      for (const suite of module.children.allSuites()) this.#countErrors(suite);
      for (const test of module.children.allTests()) this.#countTest(test);
    }
  }

  /** A file that does not load, or a hook that throws around tests that pass, is one failure. */
  #countErrors(moduleOrSuite) {
    if (moduleOrSuite.errors().length > 0) this.#tally.failed += 1;
  }

  #countTest(test) {
    const { state } = test.result();
    // "pending" here means the run ended before the test did.
    this.#tally[state === "pending" ? "failed" : state] += 1;
  }
}

function lineFor({ passed, failed, skipped }, exitCode) {
  const failures = exitCode === 0 ? failed : Math.max(failed, 1);
  const line = `${passed} passed, ${failures} failed`;
  return skipped > 0 ? `${line}, ${skipped} skipped` : line;
}
