import {
  InMemoryAgentStateStore,
  type ModelChunk,
  ModelError,
  type ModelRequest,
  textOf,
  tool,
} from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { logged, logRecords, outcomes, outline, slotOf } from "./conversation.js";

const ctx = { sessionId: "s" };
const usage = { inputTokens: 1, outputTokens: 1 };

/** Judges all it is sent, as filters do, no matter who said it and when. */
class Prude {
  readonly id = "prude";
  readonly requests: (readonly string[])[] = [];
  readonly #how: "throws" | "stops";

  constructor(how: "throws" | "stops") {
    this.#how = how;
  }

  async *stream({ messages }: ModelRequest): AsyncGenerator<ModelChunk> {
    const texts = outline(messages);
    this.requests.push(texts);
    if (texts.some((text) => text.includes("bad"))) {
      if (this.#how === "throws") throw new ModelError("refused", { kind: "content" });
      yield { type: "finish", reason: "content_filter", usage };
      return;
    }
    const last = messages.at(-1);
    if (last && textOf(last) === "look it up") {
      yield { type: "tool_call", id: "c", name: "look", input: {} };
      yield { type: "finish", reason: "tool_calls", usage };
      return;
    }
    yield { type: "text_delta", text: "ok" };
    yield { type: "finish", reason: "stop", usage };
  }
}

const look = tool({
  name: "look",
  description: "Looks.",
  input: z.object({}),
  execute: () => "bad words of others",
});

describe.each(["throws", "stops"] as const)("a model whose provider %s", (how) => {
  describe.each(["call", "step"] as const)("persistence %s", (persistence) => {
    test.each([
      ["said by the user", "bad words", ["user: bad words"]],
      ["found by a tool", "look it up", ["user: look it up", "tool: success bad words of others"]],
    ])(
      "over something %s can be asked again: the log has it, the context does not",
      async (_, input, said) => {
        const store = new InMemoryAgentStateStore();
        const model = new Prude(how);
        const agent = agentOn(store, { model, tools: [look], persistence });
        await agent.call("hello", ctx);
        await expect(agent.call(input, ctx)).rejects.toMatchObject({ kind: "content" });
        expect(outline(await agent.getAgentState(null, "s"))).toEqual([
          "user: hello",
          "assistant: ok",
        ]);
        expect((await agent.call("and now?", ctx)).text).toBe("ok");
        expect(model.requests.at(-1)).toEqual(["user: hello", "assistant: ok", "user: and now?"]);
        const records = await logRecords(store, slotOf());
        expect(outline(logged(records))).toEqual(expect.arrayContaining(said));
        expect(outcomes(records)).toEqual(["committed", "rolled_back", "committed"]);
      },
    );
  });
});

test("a call that was refused and is repeated says its input again", async () => {
  const model = new Prude("throws");
  const agent = agentOn(new InMemoryAgentStateStore(), { model });
  for (const _ of [1, 2])
    await expect(agent.call("bad", { ...ctx, callId: "c-1" })).rejects.toMatchObject({
      kind: "content",
    });
  expect(model.requests).toEqual([["user: bad"], ["user: bad"]]);
});

test("results of calls that an earlier turn made are not taken back", async () => {
  const ask = tool({ name: "look", description: "Asks somebody.", input: z.object({}) });
  const model = new Prude("throws");
  const agent = agentOn(new InMemoryAgentStateStore(), { model, tools: [ask] });
  const waiting = await agent.call("look it up", ctx);
  const results = ("pending" in waiting ? waiting.pending : []).map(({ toolCallId }) => ({
    toolCallId,
    output: "bad words of others",
  }));
  await expect(agent.call({ results }, ctx)).rejects.toMatchObject({ kind: "content" });
  expect(outline(await agent.getAgentState(null, "s"))).toEqual([
    "user: look it up",
    "assistant: call look",
    "tool: success bad words of others",
  ]);
});
