// Vitest reporter: prints the counts that tests put into their `meta.figures`, as one table at the end of the run,
// with the seed that repeats them. Only in long runs: in others the table would hide which tests failed.
export default class FiguresReporter {
  /** @param {ReadonlyArray<import("vitest/node").TestModule>} modules */
  onTestRunEnd(modules) {
    if (process.env["HOLDFAST_LONG"] !== "1") return;
    const rows = [];
    for (const module of modules)
      for (const test of module.children.allTests())
        for (const [name, count] of Object.entries(test.meta().figures ?? {}))
          rows.push([titleOf(module, test), name, String(count)]);
    if (rows.length === 0) return;
    const [first, second] = [0, 1].map((column) =>
      Math.max(...rows.map((row) => row[column].length)),
    );
    const seed = modules
      .map(({ project }) => project.getProvidedContext().securitySeed)
      .find((given) => given !== undefined);
    const lines = rows.map(([title, name, count], index) => {
      const isSame = index > 0 && rows[index - 1][0] === title;
      return `${(isSame ? "" : title).padEnd(first)}  ${name.padEnd(second)}  ${count}`;
    });
    process.stdout.write(`\n${lines.join("\n")}\n\nHOLDFAST_SECURITY_SEED=${seed} repeats it.\n`);
  }
}

function titleOf(module, test) {
  const file = module.moduleId.split("/").at(-1).replace(".test.ts", "");
  return `${file}: ${test.name}${test.result().state === "passed" ? "" : " (failed)"}`;
}
