import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type CommandLine, readCommandLine, usage } from "./command-line.js";
import { markdownReport, withTables } from "./report/markdown-report.js";
import { textGoals, textTable } from "./report/text-report.js";
import { runBench } from "./run-bench.js";
import { defaultScenarios } from "./scenarios/scenarios.js";

const page = fileURLToPath(new URL("../../docs/benchmarks.md", import.meta.url));

async function main(args: readonly string[]): Promise<void> {
  const line = readOrRefuse(args);
  if (line === undefined) return;
  const print = line.json === "-" ? () => {} : console.log;
  const report = await runBench(line, ["npm run bench", ...given(args)].join(" "), {
    print,
    progress: process.stderr.isTTY ? (text) => process.stderr.write(`${text}\n`) : () => {},
    onTable: (table) => print(textTable(table)),
  });
  if (report.goals.length > 0) print(textGoals(report.goals));
  for (const { peer, store, failure } of report.peers)
    if (failure !== undefined) print(`${peer} on ${store} was not measured: ${failure}`);
  for (const { scenario, reason } of report.failures)
    console.error(`${scenario} failed: ${reason}`);
  if (report.failures.length > 0) process.exitCode = 1;
  if (line.json === "-") console.log(JSON.stringify(report));
  else if (line.json !== undefined) writeFileSync(line.json, `${JSON.stringify(report)}\n`);
  if (!line.writeDocs) return;
  const before = readFileSync(page, "utf8");
  const isWhole = line.scenarios === defaultScenarios;
  writeFileSync(page, isWhole ? markdownReport(report, before) : withTables(before, report));
}

/** Reads the arguments; help and mistakes are answered here. */
function readOrRefuse(args: readonly string[]): CommandLine | undefined {
  try {
    const line = readCommandLine(args);
    if (line === undefined) console.log(usage);
    return line;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
    return undefined;
  }
}

/** Arguments as one would type them behind `npm run bench`, without the file, which is nobody else's. */
function given(args: readonly string[]): string[] {
  const told = args.filter((arg, n) => !arg.startsWith("--json") && args[n - 1] !== "--json");
  return told.length === 0 ? [] : ["--", ...told];
}

await main(process.argv.slice(2));
