import { compaction } from "@holdfast/compaction";
import {
  type AgentEvent,
  InMemoryAgentStateStore,
  InMemoryOffloader,
  type ModelRequest,
  type Plugin,
  ReActAgent,
  repairToolPairs,
  textOf,
  tool,
} from "@holdfast/core";
import { withBlobs } from "@holdfast/core/store-kit";
import { toolResultEviction } from "@holdfast/eviction";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { z } from "zod";

const ctx = { userId: "u", sessionId: "s" };
const TURNS = 24;
/** The model refuses requests with more characters, whatever else is switched on. */
const WINDOW_CHARS = 60_000;

const strategies = ["summary", "truncateArgs", "prune", "eviction"] as const;
type Strategy = (typeof strategies)[number];

/** All subsets of the strategies. */
const subsets: (readonly Strategy[])[] = Array.from({ length: 2 ** strategies.length }, (_, bits) =>
  strategies.filter((_, index) => bits & (1 << index)),
);

function pluginsFor(on: readonly Strategy[]): Plugin[] {
  const plugins: Plugin[] = [];
  const has = (strategy: Strategy): boolean => on.includes(strategy);
  if (has("eviction"))
    plugins.push(toolResultEviction({ maxResultChars: 5_000, previewChars: 200 }));
  if (has("summary") || has("truncateArgs") || has("prune"))
    plugins.push(
      compaction({
        summarize: has("summary"),
        triggerMessages: 0,
        triggerTokens: 9_000,
        keepTokens: 2_000,
        truncateArgs: has("truncateArgs") && {
          triggerMessages: 12,
          keepMessages: 6,
          maxArgLength: 200,
        },
        prune: has("prune") && { protectTokens: 1_500, minimumTokens: 500, maxResultChars: 400 },
      }),
    );
  return plugins;
}

const isSummaryRequest = ({ messages }: ModelRequest): boolean =>
  messages
    .at(-1)
    ?.content.some((block) => block.type === "hint" && block.source === "compaction") ?? false;

/** Every turn: a long note is written and a page read, at once. */
function replyTo(request: ModelRequest): ScriptedReply {
  expect(repairToolPairs(request.messages).repairs).toEqual([]);
  if (JSON.stringify(request.messages).length > WINDOW_CHARS)
    return { error: new Error("prompt is too long: 99999 tokens > 15000 maximum") };
  if (isSummaryRequest(request)) return "They read pages and took notes.";
  const last = request.messages.at(-1);
  if (last?.role === "tool") return "Done.";
  const turn = textOf(last as NonNullable<typeof last>);
  return {
    toolCalls: [
      { name: "note", input: { text: `${turn} ${"n".repeat(1_500)}` } },
      { name: "page", input: { of: turn } },
    ],
  };
}

const tools = [
  tool({
    name: "note",
    description: "Takes a note.",
    input: z.object({ text: z.string() }),
    execute: () => "noted",
  }),
  tool({
    name: "page",
    description: "Reads a page.",
    input: z.object({ of: z.string() }),
    execute: ({ of }) =>
      `page of ${of}: ${"word ".repeat(of.endsWith("0") ? 2_000 : 200)}end of ${of}`,
  }),
];

test.each(subsets.map((on) => [on.join(" + ") || "none of them", on] as const))(
  "with %s every request is valid, and nothing that happened is lost",
  async (_, on) => {
    const stateStore = new InMemoryAgentStateStore();
    const events: AgentEvent[] = [];
    const model = scriptedModel(replyTo);
    const agent = new ReActAgent({
      name: "a",
      model,
      tools,
      stateStore,
      offloader: new InMemoryOffloader(),
      plugins: pluginsFor(on),
      onEvent: (event) => events.push(event),
    });
    const hasCompactor = on.some((strategy) => strategy !== "eviction");
    let failures = 0;
    for (let turn = 0; turn < TURNS; turn++)
      await agent.call(`turn ${turn}`, ctx).catch(() => failures++);
    const sizes = model.requests.map(({ messages }) => JSON.stringify(messages).length);
    // Without anything that shortens a context there comes a request that no model takes.
    if (on.length === 0) expect(failures).toBeGreaterThan(0);
    if (on.includes("summary")) {
      expect(failures).toBe(0);
      expect(Math.max(...sizes)).toBeLessThan(WINDOW_CHARS);
    }
    const did = new Set(
      events.flatMap((event) => (event.type === "compaction_end" ? event.actions : [])),
    );
    const evicted = events.filter(({ type }) => type === "tool_result_evicted");
    // Beside the cheap steps a summary may not be needed at all.
    const isCheap = on.includes("truncateArgs") || on.includes("prune");
    if (!on.includes("summary") || !isCheap)
      expect(did.has("summary")).toBe(on.includes("summary"));
    expect(did.size > 0).toBe(hasCompactor);
    expect(evicted.length > 0).toBe(on.includes("eviction"));
    const { log } = stateStore.companions();
    const slot = { agentId: "a", ...ctx };
    const records = await log.read(slot, { limit: 10_000 });
    const whole = JSON.stringify(
      await Promise.all(records.map((record) => withBlobs(log, slot, record))),
    );
    for (let turn = 0; turn < TURNS - failures; turn++) {
      expect(whole.includes(`"text":"turn ${turn}"`)).toBe(true);
      expect(whole.includes(`"turn ${turn} ${"n".repeat(1_500)}"`), "the whole argument").toBe(
        true,
      );
      expect(whole.includes(`word end of turn ${turn}"`), "the whole result").toBe(true);
    }
  },
);
