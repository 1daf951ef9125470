import { compaction } from "@holdfast/compaction";
import {
  type AgentEvent,
  type CallInput,
  type HistoryPage,
  InMemoryAgentStateStore,
  type Model,
  type ModelChunk,
  ModelError,
  type PendingCall,
  ReActAgent,
  tool,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import * as z from "zod";

/** Piece of a model's reply. */
export type Piece =
  | { readonly kind: "text" | "thinking"; readonly text: string; readonly size: number }
  | { readonly kind: "file"; readonly url: string }
  | {
      readonly kind: "tool";
      readonly name: "echo" | "fail" | "draw" | "ask" | "wait" | "stop";
      readonly value: string;
      readonly isStreamed: boolean;
    }
  | { readonly kind: "error"; readonly retryable: boolean }
  /** A tool call whose arguments break off. */
  | { readonly kind: "cut" }
  | { readonly kind: "interrupt" };

/** A reply, piece by piece. */
export type Script = readonly (readonly Piece[])[];

/** Replies with everything that a model and its tools can do; texts are never empty. */
export const scripts: fc.Arbitrary<Script> = fc.array(
  fc.array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          kind: fc.constantFrom("text" as const, "thinking" as const),
          text: fc.string({ unit: "binary", minLength: 1, maxLength: 12 }),
          size: fc.integer({ min: 1, max: 5 }),
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("file" as const), url: fc.webUrl() }) },
      {
        weight: 4,
        arbitrary: fc.record({
          kind: fc.constant("tool" as const),
          name: fc.constantFrom(...(["echo", "fail", "draw", "ask", "wait", "stop"] as const)),
          value: fc.string({ maxLength: 8 }),
          isStreamed: fc.boolean(),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant("error" as const), retryable: fc.boolean() }),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom({ kind: "interrupt" as const }, { kind: "cut" as const }),
      },
    ),
    { minLength: 0, maxLength: 5 },
  ),
  { minLength: 1, maxLength: 6 },
);

/** Answer to what waits: to every call by its position. */
export interface Answers {
  readonly approve: boolean;
  readonly edit: boolean;
}

/** Decisions of the person, in order; the last one is repeated. */
export const decisions: fc.Arbitrary<readonly Answers[]> = fc.array(
  fc.record({ approve: fc.boolean(), edit: fc.boolean() }),
  { minLength: 1, maxLength: 3 },
);

/** A call as it happened. */
export interface PlayedCall {
  readonly input: CallInput;
  readonly events: readonly AgentEvent[];
  /** Calls that waited before it. */
  readonly pendingBefore: readonly PendingCall[];
}

/** A session as it happened: its calls, and what is left of them in the log. */
export interface PlayedSession {
  readonly agent: ReActAgent;
  readonly calls: readonly PlayedCall[];
  readonly records: HistoryPage["records"];
  readonly pending: readonly PendingCall[];
}

const user = "alice";
const session = "trip";

/** Runs an agent over a script: each turn begins with words of the user, and goes on until nothing waits. */
export async function playSession(
  script: Script,
  answers: readonly Answers[],
  turns: number,
): Promise<PlayedSession> {
  const stateStore = new InMemoryAgentStateStore();
  const replies = [...script];
  const model: Model = { id: "played", stream: (request) => play(replies.shift(), request.signal) };
  const stop = () => agent.interrupt(user, session);
  async function* play(
    pieces: readonly Piece[] | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<ModelChunk> {
    const usage = { inputTokens: 3, outputTokens: 2 };
    for (const [index, piece] of (pieces ?? [done]).entries()) yield* chunks(piece, index, signal);
    const calls = pieces?.some(({ kind }) => kind === "tool");
    yield { type: "finish", reason: calls ? "tool_calls" : "stop", usage };
  }
  async function* chunks(
    piece: Piece,
    index: number,
    signal: AbortSignal,
  ): AsyncGenerator<ModelChunk> {
    switch (piece.kind) {
      case "text":
      case "thinking":
        for (let at = 0; at < piece.text.length; at += piece.size)
          yield { type: `${piece.kind}_delta`, text: piece.text.slice(at, at + piece.size) };
        break;
      case "file":
        yield { type: "data", mediaType: "image/png", source: { kind: "url", url: piece.url } };
        break;
      case "tool": {
        const id = `call_${index}`;
        const { name, value } = piece;
        const inputDelta = JSON.stringify({ value });
        if (piece.isStreamed) yield { type: "tool_call_delta", id, name, inputDelta };
        yield { type: "tool_call", id, name, input: { value } };
        break;
      }
      case "cut":
        yield { type: "tool_call_delta", id: `call_${index}`, name: "echo", inputDelta: '{"va' };
        throw new ModelError("the connection broke", { retryable: true });
      case "error":
        throw new ModelError("the provider is overloaded", { retryable: piece.retryable });
      case "interrupt":
        await stop();
        await aborted(signal);
    }
  }
  const input = z.object({ value: z.string() });
  const agent = new ReActAgent({
    name: "played",
    model,
    stateStore,
    modelRetry: { attempts: 3, baseDelayMs: 1, maxDelayMs: 1 },
    plugins: [
      compaction({
        triggerMessages: 6,
        keepMessages: 3,
        model: scriptedModel(() => "What was said before."),
      }),
    ],
    tools: [
      tool({ name: "echo", description: "A tool.", input, execute: ({ value }) => ({ value }) }),
      tool({
        name: "fail",
        description: "A tool.",
        input,
        execute: () => {
          throw new Error("no such thing");
        },
      }),
      tool({
        name: "draw",
        description: "A tool.",
        input,
        execute: () => [
          { type: "text", text: "a picture" },
          { type: "data", mediaType: "image/png", source: { kind: "base64", data: "AAAA" } },
        ],
      }),
      tool({
        name: "ask",
        description: "A tool.",
        input,
        needsApproval: true,
        execute: ({ value }) => `asked ${value}`,
      }),
      tool({ name: "wait", description: "A tool.", input }),
      tool({
        name: "stop",
        description: "A tool.",
        input,
        execute: async (_, { signal }) => {
          await stop();
          await aborted(signal);
        },
      }),
    ],
  });
  const calls: PlayedCall[] = [];
  const call = async (said: CallInput, pendingBefore: readonly PendingCall[]) => {
    const events: AgentEvent[] = [];
    for await (const event of agent.stream(said, { userId: user, sessionId: session }))
      events.push(JSON.parse(JSON.stringify(event)));
    calls.push({ input: said, events, pendingBefore });
  };
  for (let turn = 0; turn < turns; turn++) {
    await call(`turn ${turn}`, []);
    for (let step = 0; step < 5; step++) {
      const pending = await agent.pending(user, session);
      if (pending.length === 0) break;
      const { approve, edit } = answers[Math.min(step, answers.length - 1)] as Answers;
      await call(answer(pending, approve, edit), pending);
    }
    if ((await agent.pending(user, session)).length > 0) break;
  }
  const { records } = await agent.history(user, session, { limit: 1_000 });
  return { agent, calls, records, pending: await agent.pending(user, session) };
}

const done: Piece = { kind: "text", text: "Done.", size: 5 };

function answer(pending: readonly PendingCall[], approve: boolean, edit: boolean): CallInput {
  const asking = pending.filter(({ state }) => state === "asking");
  if (asking.length > 0)
    return {
      confirm: asking.map(({ toolCallId }) => ({
        toolCallId,
        approve,
        ...(approve && edit && { input: { value: "edited" } }),
      })),
    };
  return { results: pending.map(({ toolCallId }) => ({ toolCallId, output: { paid: true } })) };
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
