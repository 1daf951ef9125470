import { methods, type SessionUpdate } from "@agentclientprotocol/sdk";
import { compaction } from "@holdfast/compaction";
import {
  type CallInput,
  InMemoryAgentStateStore,
  type Model,
  type ModelChunk,
  ModelError,
  ReActAgent,
  tool,
} from "@holdfast/core";
import { scaled, scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import * as z from "zod";
import { HistoryUpdates } from "../src/updates/history-updates.js";
import { ToolView } from "../src/updates/tool-view.js";
import { UpdateEncoder } from "../src/updates/update-encoder.js";
import { foldUpdates } from "./fold-updates.js";
import { streamPair, TestEditor } from "./test-editor.js";

/** Piece of a model's reply. */
type Piece =
  | { readonly kind: "text" | "thinking"; readonly text: string }
  | { readonly kind: "file"; readonly isLink: boolean }
  | { readonly kind: "tool"; readonly name: string; readonly isStreamed: boolean }
  | { readonly kind: "cut" | "fail" | "break" | "stop" };

const piece: fc.Arbitrary<Piece> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom("text" as const, "thinking" as const),
      text: fc.string({ unit: "binary", minLength: 1, maxLength: 9 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("tool" as const),
      name: fc.constantFrom("echo", "throw", "draw", "ask", "write_file"),
      isStreamed: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("file" as const), isLink: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom(...(["cut", "fail", "break", "stop"] as const)) }),
  },
);
const scripts = fc.array(fc.array(piece, { maxLength: 5 }), { minLength: 1, maxLength: 6 });

const usage = { inputTokens: 3, outputTokens: 2 };
const session = { userId: "ada", sessionId: "s" };
const view = new ToolView("/project");
const announced = { compaction: {}, notices: {} };

/** Plays a script in three turns, approving every other call; returns the updates of its events, and those of its log. */
async function play(
  script: readonly (readonly Piece[])[],
): Promise<{ live: SessionUpdate[]; replayed: SessionUpdate[] }> {
  const replies = [...script];
  const model: Model = {
    id: "played",
    contextWindow: 1_000,
    async *stream({ signal }): AsyncGenerator<ModelChunk> {
      const pieces = replies.shift() ?? [{ kind: "text", text: "Done." } as const];
      for (const [index, one] of pieces.entries()) yield* chunks(one, `call_${index}`, signal);
      const reason = pieces.some(({ kind }) => kind === "tool") ? "tool_calls" : "stop";
      yield { type: "finish", reason, usage };
    },
  };
  async function* chunks(one: Piece, id: string, signal: AbortSignal): AsyncGenerator<ModelChunk> {
    switch (one.kind) {
      case "text":
      case "thinking":
        for (const text of [one.text.slice(0, 3), one.text.slice(3)])
          if (text !== "") yield { type: `${one.kind}_delta`, text };
        return;
      case "file":
        yield {
          ...{ type: "data", mediaType: "image/png" },
          source: one.isLink
            ? { kind: "url", url: "https://example.com/a.png" }
            : { kind: "base64", data: "AAAA" },
        };
        return;
      case "tool": {
        const input = { path: "a.txt", content: "text" };
        const inputDelta = JSON.stringify(input);
        if (one.isStreamed) yield { type: "tool_call_delta", id, name: one.name, inputDelta };
        yield { type: "tool_call", id, name: one.name, input };
        return;
      }
      case "cut":
        yield { type: "tool_call_delta", id, name: "echo", inputDelta: '{"pa' };
        throw new ModelError("the connection broke", { retryable: true });
      case "stop":
        await agent.interrupt(session);
        signal.throwIfAborted();
        return;
      default:
        throw new ModelError("overloaded", { retryable: one.kind === "break" });
    }
  }
  const input = z.object({ path: z.string(), content: z.string() });
  const make = (name: string, execute: () => unknown, needsApproval = false) =>
    tool({ name, description: "A tool.", input, needsApproval, execute });
  const agent = new ReActAgent({
    ...{ name: "played", model, stateStore: new InMemoryAgentStateStore() },
    modelRetry: { attempts: 3, baseDelayMs: 1, maxDelayMs: 1 },
    plugins: [
      compaction({
        ...{ triggerMessages: 6, keepMessages: 3 },
        model: scriptedModel(() => "What was said before."),
      }),
    ],
    tools: [
      make("echo", () => "echoed"),
      make("throw", () => Promise.reject(new Error("no such thing"))),
      make("draw", () => [
        { type: "text", text: "a picture" },
        { type: "data", mediaType: "image/png", source: { kind: "base64", data: "AAAA" } },
      ]),
      make("ask", () => "asked", true),
      make("write_file", () => "written"),
    ],
  });
  const live: SessionUpdate[] = [];
  const call = async (said: CallInput, encoder: UpdateEncoder): Promise<void> => {
    const run = agent.stream(said, session);
    for await (const event of run) live.push(...encoder.encode(event));
    await run.result.catch(() => undefined);
  };
  for (let turn = 0; turn < 3; turn++) {
    const encoder = new UpdateEncoder(view, announced);
    await call(`turn ${turn}`, encoder);
    for (let step = 0; ; step++) {
      const pending = await agent.pending(session);
      if (pending.length === 0) break;
      const [first] = pending;
      const approve = step % 2 === 0;
      await call({ confirm: [{ toolCallId: first?.toolCallId ?? "", approve }] }, encoder);
    }
  }
  const { records } = await agent.history(session, { limit: 1_000 });
  const history = new HistoryUpdates(view, announced);
  return { live, replayed: records.flatMap((record) => history.record(record)) };
}

test("updates are valid, and fold to the turns of the log, whatever the model and its tools do", async () => {
  // The SDK's own client checks every update against the schemas of the protocol.
  const [one, other] = streamPair();
  const editor = new TestEditor(other);
  const writer = one.writable.getWriter();
  await fc.assert(
    fc.asyncProperty(scripts, async (script) => {
      const { live, replayed } = await play(script);
      expect(foldUpdates(live)).toEqual(foldUpdates(replayed));
      editor.notifications.length = 0;
      const sent = [...live, ...replayed];
      for (const update of sent)
        await writer.write({
          ...{ jsonrpc: "2.0", method: methods.client.session.update },
          params: JSON.parse(JSON.stringify({ sessionId: "s", update })),
        });
      await expect.poll(() => editor.notifications.length).toBe(sent.length);
      const kinds = (updates: readonly SessionUpdate[]) =>
        updates.map(({ sessionUpdate }) => sessionUpdate);
      expect(kinds(editor.notifications.map(({ update }) => update))).toEqual(kinds(sent));
    }),
    { numRuns: scaled(40, 1_000) },
  );
});

test("kinds of updates that an editor has not announced are left out", async () => {
  const events = [
    { type: "compaction_start", cause: "step", messages: 3, tokens: 10 },
    { type: "queue_wait", ahead: 1 },
  ] as const;
  const slot = { agentId: "a", userId: null, sessionId: "s" };
  const kinds = (encoder: UpdateEncoder) =>
    events.flatMap((event) =>
      encoder
        .encode({ ...event, slot, callId: "c", seq: 0 })
        .map(({ sessionUpdate }) => sessionUpdate),
    );
  expect(kinds(new UpdateEncoder(view, undefined))).toEqual([]);
  expect(kinds(new UpdateEncoder(view, announced))).toEqual(["compaction_update", "notice"]);
});
