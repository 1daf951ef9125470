import {
  ConfigurationError,
  definePlugin,
  InMemoryOffloader,
  ReActAgent,
  type ReActAgentOptions,
  type Tool,
} from "@holdfast/core";
import {
  defaultExclude,
  type EvictionOptions,
  evictionOf,
  toolResultEviction,
} from "@holdfast/eviction";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { offloaderThat } from "./offloaders.js";
import { callsOnce, eventsOf, onlyResult, takeTurn, textIn, toolThat } from "./one-turn.js";

const long = `head${"x".repeat(90_000)}tail`;

/** What is wrong with the options. */
function problemsOf(make: () => unknown): readonly string[] {
  try {
    make();
  } catch (error) {
    if (ConfigurationError.is(error)) return error.problems;
    throw error;
  }
  return [];
}

function agentWith(options: Partial<ReActAgentOptions>): ReActAgent {
  return new ReActAgent({ name: "agent", model: scriptedModel([]), ...options });
}

test.each([
  [{ maxResultChars: 0 }, /maxResultChars is 0/],
  [{ maxResultChars: 1.5 }, /maxResultChars is 1.5/],
  [{ maxResultTokens: 0 }, /maxResultTokens is 0/],
  [{ previewChars: -1 }, /previewChars is -1/],
  [
    { previewChars: 90_000 },
    /previewChars is 90000: head and tail must .* maxResultChars \(80000\)/,
  ],
  [{ maxResultChars: 4_000, previewChars: 2_000 }, /previewChars is 2000: head and tail must fit/],
  [{ exclude: ["read file"] }, /exclude.0 is "read file": must be the name of a tool/],
  [{ exclude: "execute" }, /exclude is "execute"/],
  [{ onMissingOffloader: "drop" }, /onMissingOffloader is "drop"/],
  [{ timeoutMs: 0 }, /timeoutMs is 0/],
  // The workspace owns its paths; an option that does nothing is refused.
  [{ directory: "../elsewhere" }, /directory is "..\/elsewhere"/],
])("%j is refused, and the option named", (options, problem) => {
  const problems = problemsOf(() => toolResultEviction(options as EvictionOptions));
  expect(problems).toEqual([expect.stringMatching(problem)]);
});

test("every wrong option is named at once", () => {
  const problems = problemsOf(() => toolResultEviction({ maxResultChars: 0, timeoutMs: -1 }));
  expect(problems).toHaveLength(2);
});

describe("without an offloader", () => {
  test("the agent is not built, and the problem names plugin and port", () => {
    const problems = problemsOf(() => agentWith({ plugins: [toolResultEviction()] }));
    expect(problems).toEqual([expect.stringMatching(/"eviction".*offloader/)]);
  });

  test("one that another plugin provides will do, whatever their order", () => {
    const provider = definePlugin({
      name: "provider",
      contract: 1,
      setup: (host) => host.provide("offloader", new InMemoryOffloader()),
    });
    const eviction = toolResultEviction();
    expect(problemsOf(() => agentWith({ plugins: [eviction, provider] }))).toEqual([]);
    expect(problemsOf(() => agentWith({ plugins: [provider, eviction] }))).toEqual([]);
  });

  test("head and tail stay with onMissingOffloader: truncate, and the log has the whole", async () => {
    const turn = await takeTurn([toolThat(() => long)], {
      eviction: { onMissingOffloader: "truncate" },
    });
    const result = onlyResult(turn);
    expect(textIn(result)).toContain("conversation log");
    expect(textIn(result)).toMatch(/\n\nheadx{1996}\n\n.*\n\nx{1996}tail$/);
    expect(evictionOf(result)).toEqual({ reference: "conversation log", chars: long.length });
    expect(eventsOf(turn, "tool_result_evicted")).toHaveLength(1);
    expect(JSON.stringify(turn.log)).toContain(long);
  });

  test("data stays all the same", async () => {
    const data = "A".repeat(100_000);
    const output = [
      { type: "text", text: long },
      { type: "data", mediaType: "image/png", source: { kind: "base64", data } },
    ];
    const result = onlyResult(
      await takeTurn([toolThat(() => output)], { eviction: { onMissingOffloader: "truncate" } }),
    );
    expect(result.output[1]).toEqual(output[1]);
    expect(textIn(result).length).toBeLessThan(5_000);
  });
});

describe("excluded", () => {
  const isEvicted = async (
    name: string,
    exclude?: EvictionOptions["exclude"],
    readBackTool?: Tool,
  ) => {
    const offload = async () => ({ reference: "r", readBack: "Read r." });
    const turn = await takeTurn(readBackTool ? [] : [toolThat(() => long, name)], {
      offloader: { ...offloaderThat(offload), readBackTool },
      eviction: { exclude },
      agent: readBackTool && { model: callsOnce([readBackTool]) },
    });
    return evictionOf(onlyResult(turn)) !== null;
  };

  test.each(defaultExclude)("%s is, by default", async (name) => {
    expect(await isEvicted(name)).toBe(false);
  });

  // Tools of an MCP server named "memory" or "session" are called like those of the agent.
  test.each([
    ...["execute", "memory", "my_read_file", "read_files", "web_search"],
    ...["memory_read_graph", "session_dump"],
  ])("%s is not, by default", async (name) => {
    expect(await isEvicted(name)).toBe(true);
  });

  test("is what a list adds to the defaults, with * for any characters", async () => {
    const exclude = ["execute", "db_*_rows"];
    expect(await isEvicted("execute", exclude)).toBe(false);
    expect(await isEvicted("db_some_rows", exclude)).toBe(false);
    expect(await isEvicted("db_rows", exclude)).toBe(true);
    expect(await isEvicted("read_file", exclude)).toBe(false);
  });

  test("is what a function says, which knows the defaults", async () => {
    const replacing = (name: string) => name === "execute";
    expect(await isEvicted("execute", replacing)).toBe(false);
    expect(await isEvicted("read_file", replacing)).toBe(true);
    const adding = (name: string, byDefault: boolean) => byDefault || name === "execute";
    expect(await isEvicted("execute", adding)).toBe(false);
    expect(await isEvicted("read_file", adding)).toBe(false);
    expect(await isEvicted("web_search", adding)).toBe(true);
  });

  test("is the offloader's own read-back tool, whatever a function says", async () => {
    const fetchBack = toolThat(() => long, "fetch_back");
    expect(await isEvicted("fetch_back", () => false)).toBe(true);
    expect(await isEvicted("fetch_back", () => false, fetchBack)).toBe(false);
  });
});

test("the preview is a quarter of a small limit unless said otherwise", async () => {
  const previewOf = async (eviction: EvictionOptions) =>
    textIn(
      onlyResult(
        await takeTurn([toolThat(() => "x".repeat(8_000))], {
          offloader: new InMemoryOffloader(),
          eviction,
        }),
      ),
    );
  expect(await previewOf({ maxResultChars: 1_000 })).toMatch(/\n\nx{250}\n\n.*\n\nx{250}$/);
  expect(await previewOf({ maxResultTokens: 1_200 })).toMatch(/\n\nx{300}\n\n.*\n\nx{300}$/);
  expect(await previewOf({ maxResultChars: 7_000 })).toMatch(/\n\nx{1750}\n\n.*\n\nx{1750}$/);
  expect(await previewOf({ maxResultChars: 5_000, previewChars: 7 })).toMatch(
    /\n\nx{7}\n\n\[… 7986 characters left out …\]\n\nx{7}$/,
  );
  expect(await previewOf({ maxResultChars: 5_000, previewChars: 0 })).toMatch(/^\[[^x]*\]$/);
});
