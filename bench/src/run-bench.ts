import type { CommandLine } from "./command-line.js";
import { type StartedPeers, startPeers } from "./peers/start-peers.js";
import { goalResults } from "./report/goals.js";
import { load, thisMachine } from "./report/machine.js";
import type { BenchReport, ScenarioFailure } from "./report/report.js";
import type { Table } from "./report/table.js";
import type { Scenario, ScenarioContext } from "./scenarios/scenario.js";
import { BenchServers } from "./stores/bench-servers.js";

/** Takes what a run has to say. */
export interface BenchOutput {
  readonly print: (line: string) => void;
  readonly progress: (line: string) => void;
  /** A table, as soon as it is measured. */
  readonly onTable: (table: Table) => void;
}

/** Runs scenarios one after the other and reports what they measured. */
export async function runBench(
  { scenarios, peers, ...line }: CommandLine,
  command: string,
  { onTable, ...output }: BenchOutput,
): Promise<BenchReport> {
  const [startedAt, began, loadBefore] = [new Date().toISOString(), performance.now(), load()];
  const servers = await BenchServers.create();
  let started: StartedPeers = { running: [], reports: [] };
  let measured: Pick<BenchReport, "tables" | "failures">;
  try {
    if (peers) started = await startPeers(servers, output.progress);
    const context = { ...line, ...output, servers, peers: started.running };
    measured = await runAll(scenarios, context, onTable);
  } finally {
    for (const peer of started.running) peer.stop();
    await servers.close();
  }
  return {
    v: 1,
    command,
    startedAt,
    seconds: (performance.now() - began) / 1_000,
    machine: thisMachine(),
    load: [loadBefore, load()],
    quick: line.quick,
    ...measured,
    goals: goalResults(measured.tables),
    peers: started.reports,
  };
}

/** Runs one scenario after the other; one that fails does not take the tables of the others with it. */
async function runAll(
  scenarios: readonly Scenario[],
  context: ScenarioContext,
  onTable: BenchOutput["onTable"],
): Promise<Pick<BenchReport, "tables" | "failures">> {
  const [tables, failures]: [Table[], ScenarioFailure[]] = [[], []];
  for (const scenario of scenarios)
    try {
      for (const table of await scenario.run(context)) {
        tables.push(table);
        onTable(table);
      }
    } catch (error) {
      failures.push({ scenario: scenario.name, reason: String(error) });
    }
  return { tables, failures };
}
