import assert from "node:assert/strict";
import {
  type AgentState,
  assistantMessage,
  type Message,
  repairToolPairs,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import fc from "fast-check";
import { test } from "vitest";
import { runs } from "../runs.js";
import { scenarios, stage } from "../scenarios.js";

/** Which message holds the call of each result: the nearest call of its id in front of it that has none yet. */
function pairsOf(messages: readonly Message[]): [call: string, result: string][] {
  const waiting: { readonly callId: string; readonly messageId: string }[] = [];
  const pairs: [string, string][] = [];
  for (const { id, content } of messages)
    for (const block of content) {
      if (block.type === "tool_call") waiting.push({ callId: block.id, messageId: id });
      if (block.type !== "tool_result") continue;
      const at = waiting.findLastIndex(({ callId }) => callId === block.toolCallId);
      const [call] = at < 0 ? [] : waiting.splice(at, 1);
      if (call) pairs.push([call.messageId, id]);
    }
  return pairs;
}

function repairsOf(state: AgentState): string[] {
  const open = new Set(Object.keys(state.openCalls));
  return repairToolPairs(state.context, open).repairs.map(
    ({ kind, toolCallId: callId }) => `${kind} ${callId}`,
  );
}

test("a call and its result leave together or stay together, whatever the conversation", async () => {
  await fc.assert(
    fc.asyncProperty(scenarios(), async (scenario) => {
      const { bench, state } = stage(scenario);
      const pairs = pairsOf(state.context);
      const before = new Set(repairsOf(state));
      await bench.compact(state, scenario.asked);
      const ids = new Set(state.context.map(({ id }) => id));
      for (const [call, result] of pairs) assert.equal(ids.has(call), ids.has(result));
      const orphans = repairsOf(state).filter((repair) => repair.startsWith("orphan"));
      for (const orphan of orphans) assert.ok(before.has(orphan), `${orphan} is new`);
    }),
    runs(),
  );
});

test("what the engine wrote needs no repair after a compaction, and open calls stay", async () => {
  await fc.assert(
    fc.asyncProperty(scenarios({ tidy: true }), async (scenario) => {
      const { bench, state } = stage(scenario);
      await bench.compact(state, scenario.asked);
      assert.deepEqual(repairsOf(state), []);
      const calls = state.context.flatMap(({ content }) =>
        content.flatMap((block) => (block.type === "tool_call" ? [block.id] : [])),
      );
      const open = Object.keys(state.openCalls);
      for (const id of open) assert.ok(calls.includes(id));
      assert.equal(state.pairedContext().repairs.length, open.length);
    }),
    runs(),
  );
});

test("the current request stays, word for word and in its order", async () => {
  const saysSomething = ({ role, content }: Message): boolean =>
    role === "user" && content.some(({ type }) => type === "text" || type === "data");
  await fc.assert(
    fc.asyncProperty(scenarios(), async (scenario) => {
      const { bench, state } = stage(scenario);
      const before = [...state.context];
      const last = before.findLastIndex(saysSomething);
      const first =
        before.findLastIndex((message, index) => index < last && !saysSomething(message)) + 1;
      await bench.compact(state, scenario.asked);
      const request = before.slice(first, last + 1);
      const stayed = state.context.filter(({ id }) => request.some((said) => said.id === id));
      const words = (messages: readonly Message[]) =>
        messages.map(({ id, content }) => [id, ...content.filter(({ type }) => type === "text")]);
      assert.deepEqual(words(stayed), words(request));
    }),
    runs(),
  );
});

test("a turn that is steered keeps its request, and what it was last steered with, word for word", async () => {
  const steps = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 6 });
  let steered = 0;
  await fc.assert(
    fc.asyncProperty(scenarios(), steps, async (scenario, stepsBetween) => {
      const { conversation } = scenario;
      const words = stepsBetween.map((_, index) => userMessage(`steered ${index}`));
      const request = userMessage("check every valve");
      const turn = stepsBetween.flatMap((count, index) => [
        ...Array.from({ length: count }, (_, step) => stepOf(`s-${index}-${step}`)).flat(),
        words[index] as Message,
      ]);
      const messages = [...conversation.messages, assistantMessage("done"), request, ...turn];
      const { bench, state } = stage({ ...scenario, conversation: { ...conversation, messages } });
      const { compacted } = await bench.compact(state, scenario.asked);
      if (compacted && bench.of("compaction_end")[0]?.actions.includes("summary")) steered++;
      for (const said of [request, ...words.slice(-4)])
        assert.ok(state.context.includes(said), JSON.stringify(said.content));
    }),
    runs(),
  );
  assert.ok(steered > 10, "summaries were written in such turns");
});

/** A step of a turn: a tool call and its result. */
function stepOf(id: string): readonly Message[] {
  const name = "look";
  return [
    assistantMessage([{ type: "tool_call", id, name, input: {} }]),
    toolResultMessage({
      ...{ type: "tool_result", toolCallId: id, name, state: "success" },
      output: [{ type: "text", text: "row ".repeat(200) }],
    }),
  ];
}
