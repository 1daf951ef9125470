import { parseArgs } from "node:util";
import type { Scenario } from "./scenarios/scenario.js";
import { allScenarios, defaultScenarios } from "./scenarios/scenarios.js";
import { type StoreName, storeNames } from "./stores/store-side.js";

/** Scenarios to run, and places for the results. */
export interface CommandLine {
  readonly scenarios: readonly Scenario[];
  readonly stores: readonly StoreName[];
  readonly sizes: readonly number[];
  readonly kills: number;
  readonly quick: boolean;
  readonly rounds: number | undefined;
  readonly peers: boolean;
  /** File for the report as JSON; `-` is the standard output, which then has nothing else. */
  readonly json: string | undefined;
  readonly writeDocs: boolean;
}

const options = {
  store: { type: "string", multiple: true },
  sizes: { type: "string" },
  kills: { type: "string", default: "5" },
  quick: { type: "boolean", default: false },
  rounds: { type: "string" },
  peers: { type: "boolean", default: false },
  json: { type: "string" },
  "write-docs": { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

/** Text of `--help`. */
export const usage: string = `Usage: npm run bench -- [names] [options]

Without names: ${defaultScenarios.map(({ name }) => name).join(", ")}.

${allScenarios.map(({ name, summary }) => `  ${name.padEnd(14)} ${summary}`).join("\n")}

  --store redis        only this store (${storeNames.join(", ")}); may be repeated
  --sizes 10,5000      messages in the sessions (10,100,1000,5000)
  --kills 20           processes that takeover kills on each store (5)
  --quick              few rounds
  --rounds 50          as many rounds
  --peers              also LangGraph.js, deepagents, OpenAI Agents and Mastra, installed in a temporary directory
  --json file          writes the report as JSON; - is the standard output
  --write-docs         writes docs/benchmarks.md; with names, only their tables in it

HOLDFAST_TEST_REDIS_URL and HOLDFAST_TEST_MYSQL_URL name existing servers; without them private ones are started.`;

/**
 * Reads the command line; undefined when help is wanted.
 *
 * @throws Error that says what is wrong and what is accepted
 */
export function readCommandLine(args: readonly string[]): CommandLine | undefined {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  if (values.help) return undefined;
  return {
    scenarios: positionals.length === 0 ? defaultScenarios : positionals.map(scenarioNamed),
    stores: values.store?.flatMap((list) => list.split(",")).map(storeNamed) ?? storeNames,
    sizes: values.sizes?.split(",").map(countOf) ?? [10, 100, 1_000, 5_000],
    kills: countOf(values.kills),
    quick: values.quick,
    rounds: values.rounds === undefined ? undefined : countOf(values.rounds),
    peers: values.peers,
    json: values.json,
    writeDocs: values["write-docs"],
  };
}

function scenarioNamed(name: string): Scenario {
  const found = allScenarios.find((each) => each.name === name);
  const names = allScenarios.map((each) => each.name).join(", ");
  if (found === undefined) throw new Error(`there is no bench ${name}; there are ${names}`);
  return found;
}

function storeNamed(name: string): StoreName {
  const found = storeNames.find((each) => each === name);
  if (found === undefined)
    throw new Error(`there is no store ${name}; there are ${storeNames.join(", ")}`);
  return found;
}

function countOf(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new Error(`${text} is not a count`);
  return count;
}
