import type { Comparison } from "../measure/compare.js";
import type { Scenario } from "../scenarios/scenario.js";

/** Benches of single parts, run by their names alone; what each needs is loaded when it runs. */
export const partBenches: readonly Scenario[] = [
  {
    name: "attach",
    summary: "a call whose events are kept and read, by the number of readers, against one without",
    async run(context) {
      const { measureAttach } = await import("./attach-cost.js");
      return [await measureAttach(context)];
    },
  },
  {
    name: "counting",
    summary: "counting the tokens of a request, at 50 and 5,000 messages",
    async run({ print }) {
      const { measureCounting } = await import("./count-tokens.js");
      print(
        `Counting tokens before a step, at 50 and 5,000 messages: ${lineOf(await measureCounting())}`,
      );
      return [];
    },
  },
  {
    name: "imports",
    summary:
      "importing core and the harness in a new process, against the package ai, which is installed for it",
    async run({ print, quick, rounds }) {
      const { measureImports } = await import("./import-time.js");
      await measureImports(rounds ?? (quick ? 5 : 25), print);
      return [];
    },
  },
  {
    name: "memory-wait",
    summary: "a call of an agent with long-term memory, against one without",
    async run({ print }) {
      const { measureMemoryWait } = await import("./memory-wait.js");
      for (const [trigger, waited] of Object.entries(await measureMemoryWait()))
        print(`A call without memory and with it, ${trigger}: ${lineOf(waited)}`);
      return [];
    },
  },
  {
    name: "search",
    summary: "session_search over 200 MB of logs, against rg",
    async run({ print }) {
      const { measureLogSearch } = await import("./search-logs.js");
      const { agentSearch } = await import("./agent-search.js");
      await measureLogSearch(print, agentSearch);
      return [];
    },
  },
  {
    name: "tokens",
    summary: "token counters: speed, load time, memory and error, against tiktoken",
    async run({ print }) {
      const { measureTokens, tokenLines } = await import("./tokens.js");
      for (const line of tokenLines(measureTokens())) print(line);
      return [];
    },
  },
  {
    name: "replay",
    summary:
      "tokens billed for 100 recorded conversations, against LangChain and deepagents; HOLDFAST_LONG=1: in three windows",
    async run({ print }) {
      const { replayWindows, runReplay } = await import("../replay/run-replay.js");
      await runReplay({ windows: replayWindows(), settings: ["alike", "defaults"], print });
      return [];
    },
  },
  {
    name: "mysql-pool",
    summary: "calls of a node whose MySQL pool is too small, by its size",
    async run({ print }) {
      const { measurePools } = await import("./mysql-pool.js");
      await measurePools(print);
      return [];
    },
  },
];

function lineOf({ floorMs, measuredMs, ratio }: Comparison): string {
  return `${floorMs.toFixed(3)} ms, ${measuredMs.toFixed(3)} ms: ${ratio.toFixed(2)} x`;
}
