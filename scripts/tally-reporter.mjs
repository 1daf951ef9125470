// Vitest reporter: names the tests that failed, and the last line of a run is `N passed, N failed` (and `, N skipped` if any).
// It is written when the process exits, so it also comes when no test ran, and it never says
// "0 failed" on a run that exits with an error. In long runs, which may be stopped before their end, it tells of a failure
// when it happens.
export default class TallyReporter {
  #tally = { passed: 0, failed: 0, skipped: 0 };
  #failed = [];

  onInit() {
    process.once("exit", (code) => {
      const failed = this.#failed.map((name) => `failed: ${name}\n`).join("");
      process.stdout.write(`${failed}${lineFor(this.#tally, code)}\n`);
    });
  }

  /** @param {import("vitest/node").TestCase} test */
  onTestCaseResult(test) {
    if (process.env["HOLDFAST_LONG"] !== "1") return;
    for (const error of test.result().errors ?? [])
      process.stdout.write(`failed: ${nameOf(test)}\n${withCauses(error)}\n`);
  }

  /**
   * @param {ReadonlyArray<import("vitest/node").TestModule>} modules
   * @param {ReadonlyArray<unknown>} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    this.#tally = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    this.#failed = unhandledErrors.map(() => "an error outside of the tests");
    for (const module of modules) {
      this.#countErrors(module);
      for (const suite of module.children.allSuites()) this.#countErrors(suite);
      for (const test of module.children.allTests()) this.#countTest(test);
    }
  }

  /** A file that does not load, or a hook that throws around tests that pass, is one failure. */
  #countErrors(moduleOrSuite) {
    if (moduleOrSuite.errors().length === 0) return;
    this.#tally.failed += 1;
    this.#failed.push(nameOf(moduleOrSuite));
  }

  #countTest(test) {
    const { state } = test.result();
    // "pending" here means the run ended before the test did.
    const counted = state === "pending" ? "failed" : state;
    this.#tally[counted] += 1;
    if (counted === "failed") this.#failed.push(nameOf(test));
  }
}

/** Properties name what failed in the cause of their error. */
function withCauses({ message, stack, cause }) {
  const own = `${message}\n${stack ?? ""}`;
  return cause?.message === undefined ? own : `${own}\ncaused by: ${withCauses(cause)}`;
}

function nameOf(task) {
  const file = task.module?.relativeModuleId ?? task.relativeModuleId;
  return task.fullName === undefined ? file : `${file} > ${task.fullName}`;
}

function lineFor({ passed, failed, skipped }, exitCode) {
  const failures = exitCode === 0 ? failed : Math.max(failed, 1);
  const line = `${passed} passed, ${failures} failed`;
  return skipped > 0 ? `${line}, ${skipped} skipped` : line;
}
