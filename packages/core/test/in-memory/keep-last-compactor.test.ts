import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  AgentState,
  assistantMessage,
  ConfigurationError,
  InvalidInputError,
  type JsonObject,
  keepLastCompactor,
  type Message,
  RuntimeContext,
  repairToolPairs,
  textOf,
  toolResultMessage,
  userMessage,
} from "../../src/index.js";

function stateOf(messages: readonly Message[]): AgentState {
  const state = AgentState.create({ sessionId: "s" });
  state.contextMutable().push(...messages);
  return state;
}

async function compact(
  state: AgentState,
  keepMessages: number,
  more: { overrides?: JsonObject; signal?: AbortSignal; dropping?: () => Promise<void> } = {},
) {
  const dropped: Message[] = [];
  const before = state.context.length;
  const result = await keepLastCompactor({ keepMessages }).compact({
    slot: { agentId: "a", userId: null, sessionId: "s" },
    state,
    ctx: RuntimeContext.empty(),
    model: {
      id: "none",
      stream() {
        throw new Error("this compactor asks no model");
      },
    },
    prompt: { system: "", tools: [] },
    isOverflow: () => false,
    emit: () => undefined,
    mark: () => undefined,
    cause: "manual",
    force: false,
    overrides: more.overrides ?? {},
    signal: more.signal ?? new AbortController().signal,
    async dropping(messages) {
      expect(state.context).toHaveLength(before);
      dropped.push(...messages);
      await more.dropping?.();
    },
  });
  return { result, dropped };
}

let ids = 0;
/** One round of a conversation: a request, steps with parallel calls, an answer. */
function round(steps: readonly number[]): Message[] {
  const messages = [userMessage("request")];
  for (const calls of steps) {
    const names = Array.from({ length: calls }, () => `call-${++ids}`);
    messages.push(
      assistantMessage(names.map((id) => ({ type: "tool_call", id, name: "t", input: {} }))),
      ...names.map((callId) =>
        toolResultMessage({
          type: "tool_result",
          toolCallId: callId,
          name: "t",
          output: [],
          state: "success",
        }),
      ),
    );
  }
  return [...messages, assistantMessage("answer")];
}

const conversation = fc
  .array(fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 4 }), { minLength: 1, maxLength: 6 })
  .map((rounds) => rounds.flatMap(round));

test("after any compaction pairs are whole, the request and the tail are there, and what left was announced", async () => {
  await fc.assert(
    fc.asyncProperty(
      conversation,
      fc.integer({ min: 1, max: 12 }),
      fc.boolean(),
      fc.nat({ max: 3 }),
      async (all, keep, summarised, cutOff) => {
        const messages = all.slice(0, all.length - Math.min(cutOff, all.length - 1));
        const paired = [...repairToolPairs(messages).messages];
        const state = stateOf(paired);
        if (summarised) state.summary = "so far";
        const before = [...state.context];
        const { result, dropped } = await compact(state, keep);
        expect(repairToolPairs(state.context).repairs).toEqual([]);
        const request = before.findLast(
          ({ role, content }) => role === "user" && content[0]?.type === "text",
        );
        expect(state.context).toContain(request);
        for (const message of before.slice(-keep)) expect(state.context).toContain(message);
        expect(state.summary).toBe(summarised ? "so far" : null);
        const kept = new Set(state.context);
        expect(before.filter((message) => !kept.has(message))).toEqual(dropped);
        expect(before.filter((message) => kept.has(message))).toEqual(state.context);
        expect(result).toEqual({
          compacted: dropped.length > 0,
          messagesBefore: before.length,
          messagesAfter: state.context.length,
        });
        const again = await compact(state, keep);
        expect(again.result.compacted).toBe(false);
      },
    ),
    { numRuns: process.env["HOLDFAST_LONG"] === "1" ? 5_000 : 60 },
  );
});

test("a single long run is shortened too: the request stays in front of the tail", async () => {
  const state = stateOf(round([1, 1, 1, 1, 1]));
  const { result } = await compact(state, 3);
  expect(result).toEqual({ compacted: true, messagesBefore: 12, messagesAfter: 4 });
  expect(textOf(state.context[0] as Message)).toBe("request");
});

test("open calls stay where they are", async () => {
  const call = assistantMessage([{ type: "tool_call", id: "open", name: "t", input: {} }]);
  const state = stateOf([
    ...round([]),
    ...round([]),
    call,
    userMessage([{ type: "hint", text: "h", source: "s" }]),
  ]);
  state.openCalls = { open: "asking" };
  await compact(state, 1);
  expect(state.context).toContain(call);
});

test("a context that is short enough is left alone", async () => {
  const state = stateOf(round([]));
  const { result, dropped } = await compact(state, 2);
  expect(result).toEqual({ compacted: false, messagesBefore: 2, messagesAfter: 2 });
  expect(dropped).toEqual([]);
});

test("words that were said to a running turn do not put out the request it works on", async () => {
  const [asked, first, second] = ["check the valves", "in metric units", "and be quick"].map(
    (text) => userMessage(text),
  ) as [Message, Message, Message];
  const [call, ...results] = round([1]).slice(1, -1) as [Message, ...Message[]];
  const [later, ...more] = round([1, 1]).slice(1, -1) as [Message, ...Message[]];
  const old = round([2]);
  const state = stateOf([...old, asked, call, ...results, first, second, later, ...more]);
  await compact(state, 1);
  for (const message of [asked, first, second]) expect(state.context).toContain(message);
  expect(state.context).not.toContain(old[0]);
});

describe("the context is as it was", () => {
  const messages = [...round([]), ...round([]), ...round([])];

  test("when what listens to the drop fails", async () => {
    const state = stateOf(messages);
    const error = new Error("flush failed");
    await expect(compact(state, 1, { dropping: () => Promise.reject(error) })).rejects.toBe(error);
    expect(state.context).toEqual(messages);
  });

  test("when the signal aborts before or meanwhile", async () => {
    const state = stateOf(messages);
    const reason = new Error("stop");
    await expect(compact(state, 1, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const dropping = async () => controller.abort(reason);
    await expect(compact(state, 1, { signal: controller.signal, dropping })).rejects.toBe(reason);
    expect(state.context).toEqual(messages);
  });
});

test("keepMessages can be overridden for one compaction, by a number that makes sense", async () => {
  const state = stateOf([...round([]), ...round([]), ...round([])]);
  expect((await compact(state, 6, { overrides: { keepMessages: 2 } })).result.messagesAfter).toBe(
    2,
  );
  for (const keepMessages of [0, 1.5, "2"])
    await expect(compact(state, 6, { overrides: { keepMessages } })).rejects.toSatisfy(
      InvalidInputError.is,
    );
});

test.each([0, -1, 1.5, "2", undefined])("keepMessages: %j is refused", (keepMessages) => {
  expect(() => keepLastCompactor({ keepMessages: keepMessages as number })).toThrow(
    ConfigurationError,
  );
});
