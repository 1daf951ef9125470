import {
  type AgentEvent,
  type AgentRun,
  ContextOverflowError,
  InMemoryAgentStateStore,
  type ModelChunk,
  ModelError,
  ReActAgent,
  textOf,
} from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { chunkModel, finish, type ScriptedStream, text } from "./chunk-model.js";

const modelRetry = { baseDelayMs: 0 };
const broken = () => new ModelError("broken line", { retryable: true });
const thinking = (value: string): ModelChunk => ({ type: "thinking_delta", text: value });
const call = (name: string): ModelChunk => ({ type: "tool_call", id: "call_0", name, input: {} });
const answer: ScriptedStream = [text("Half of it"), text(" and the rest."), finish()];

/** A front end as the page about events describes it. */
async function front(run: AgentRun): Promise<{ shown: string; events: AgentEvent[] }> {
  const events: AgentEvent[] = [];
  let said = "";
  let current = "";
  for await (const event of run) {
    events.push(event);
    if (event.type === "model_call_start") {
      said += current;
      current = "";
    }
    if (event.type === "text_delta") current += event.text;
    if (event.type === "attempt_discarded") current = "";
  }
  return { shown: said + current, events };
}

type Discarded = Extract<AgentEvent, { type: "attempt_discarded" }>;
const discardedIn = (events: readonly AgentEvent[]): Discarded[] =>
  events.filter((event) => event.type === "attempt_discarded");

describe("what a failed request has streamed", () => {
  test("is taken back before the next one begins, so that a retried reply is shown once", async () => {
    const half: ScriptedStream = [thinking("Hm"), text("Half of it"), broken()];
    const model = chunkModel([half, [text("Half of it")], answer]);
    const agent = new ReActAgent({ name: "a", model, modelRetry });
    const run = agent.stream("hi");
    const { shown, events } = await front(run);
    expect(shown).toBe((await run.result).text);
    expect(shown).toBe("Half of it and the rest.");
    expect(events.map(({ type }) => type)).toEqual([
      ...["call_start", "state_loaded", "model_call_start", "thinking_delta", "text_delta"],
      ...["model_call_end", "attempt_discarded", "model_call_start", "text_delta"],
      ...["model_call_end", "attempt_discarded", "model_call_start", "text_delta", "text_delta"],
      ...["model_call_end", "state_saved", "call_end"],
    ]);
    const ended = events.flatMap((event) =>
      event.type === "model_call_end" ? [event.requestId] : [],
    );
    expect(discardedIn(events)).toMatchObject([
      { requestId: ended[0], attempt: 1, reason: "retry", textChars: 10, thinkingChars: 2 },
      { requestId: ended[1], attempt: 2, reason: "retry", textChars: 10, thinkingChars: 0 },
    ]);
  });

  test("includes files and tool calls, complete or not, by the ids they were announced under", async () => {
    const model = chunkModel([
      [
        { type: "data", mediaType: "text/plain", source: { kind: "base64", data: "eA==" } },
        call("add"),
        { type: "tool_call_delta", id: "call_1", name: "add", inputDelta: '{"a"' },
        broken(),
      ],
      answer,
    ]);
    const agent = new ReActAgent({ name: "a", model, modelRetry });
    const { events } = await front(agent.stream("hi"));
    const started = events.flatMap((event) =>
      event.type === "tool_call_start" ? [event.toolCallId] : [],
    );
    expect(started).toHaveLength(2);
    expect(discardedIn(events)).toMatchObject([{ files: 1, toolCallIds: started, textChars: 0 }]);
    expect(events.some(({ type }) => type === "tool_result")).toBe(false);
  });

  test("is taken back as well when the request is not sent again", async () => {
    const model = chunkModel([[text("Half"), new ModelError("no such key")]]);
    const agent = new ReActAgent({ name: "a", model, modelRetry });
    const run = agent.stream("hi");
    const { shown, events } = await front(run);
    await expect(run.result).rejects.toThrow("no such key");
    expect(shown).toBe("");
    expect(discardedIn(events)).toMatchObject([{ reason: "failed", attempt: 1 }]);
    expect((await agent.getAgentState())?.context.map(textOf)).toEqual(["hi"]);
  });

  test("is not mentioned when there was nothing", async () => {
    const model = chunkModel([[broken()], [text(""), broken()], answer]);
    const agent = new ReActAgent({ name: "a", model, modelRetry });
    const { shown, events } = await front(agent.stream("hi"));
    expect(shown).toBe("Half of it and the rest.");
    expect(discardedIn(events)).toEqual([]);
  });

  test("is taken back from a model that overflows in mid-reply, and from the fallback model", async () => {
    const overflow = new ContextOverflowError("too long");
    const primary = chunkModel([[text("Half"), overflow], answer]);
    const compactor = {
      compact: async () => ({ compacted: true, messagesBefore: 2, messagesAfter: 1 }),
    };
    const plugins = [
      {
        name: "shorter",
        contract: 1 as const,
        setup: (host: { provide(port: "compactor", value: typeof compactor): void }) =>
          host.provide("compactor", compactor),
      },
    ];
    const agent = new ReActAgent({ name: "a", model: primary, plugins, modelRetry });
    const recovered = await front(agent.stream("hi"));
    expect(recovered.shown).toBe("Half of it and the rest.");
    expect(discardedIn(recovered.events)).toMatchObject([{ reason: "overflow", textChars: 4 }]);
    const twice = new ReActAgent({
      name: "b",
      model: chunkModel([[new ModelError("down")]]),
      fallbackModel: chunkModel([[text("Half"), broken()], answer], { id: "other" }),
      modelRetry,
    });
    const fallen = await front(twice.stream("hi"));
    expect(fallen.shown).toBe("Half of it and the rest.");
    expect(discardedIn(fallen.events)).toMatchObject([{ reason: "retry", textChars: 4 }]);
  });
});

describe("a reply that does not count", () => {
  test("for want of an answer is taken back with its thinking", async () => {
    const model = chunkModel([[thinking("Hm"), text(" "), finish()], answer]);
    const agent = new ReActAgent({ name: "a", model });
    const { shown, events } = await front(agent.stream("hi"));
    expect(shown).toBe("Half of it and the rest.");
    expect(discardedIn(events)).toMatchObject([{ reason: "empty_reply", thinkingChars: 2 }]);
  });

  test("because it does not fit the schema is taken back, the last one too", async () => {
    const model = { ...chunkModel([[text("{}"), finish()]]), structuredOutput: true };
    const agent = new ReActAgent({ name: "a", model, stateStore: new InMemoryAgentStateStore() });
    const run = agent.stream("hi", { output: z.object({ city: z.string() }) });
    const { shown, events } = await front(run);
    await expect(run.result).rejects.toMatchObject({ code: "STRUCTURED_OUTPUT" });
    expect(shown).toBe("");
    expect(discardedIn(events).map(({ reason }) => reason)).toEqual(
      Array.from({ length: 3 }, () => "invalid_output"),
    );
  });
});

test("what an interrupted reply has said is kept, and not taken back", async () => {
  const controller = new AbortController();
  const model = chunkModel([[text("Half of it"), finish()]]);
  const agent = new ReActAgent({
    name: "a",
    model: {
      ...model,
      async *stream(request) {
        yield text("Half of it");
        controller.abort();
        for await (const chunk of model.stream(request)) yield chunk;
      },
    },
  });
  const run = agent.stream("hi", { signal: controller.signal });
  const { events } = await front(run);
  await expect(run.result).rejects.toMatchObject({ code: "ABORTED" });
  expect(discardedIn(events)).toEqual([]);
  expect((await agent.getAgentState())?.context.map(textOf)[1]).toContain("Half of it");
});
