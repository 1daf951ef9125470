import {
  type AgentEvent,
  type DataBlock,
  definePlugin,
  InMemoryConversationLog,
  type Middleware,
  type Model,
  type ModelChunk,
  ModelError,
  ReActAgent,
  type ReActAgentOptions,
  tool,
  toolResult,
} from "@holdfast/core";
import { createMessage, safeTool } from "@holdfast/core/plugin-kit";
import { eventually, scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { chunkModel, finish, type ScriptedStream, text } from "./chunk-model.js";

type EventOf<T extends AgentEvent["type"]> = Extract<AgentEvent, { type: T }>;

/** An agent, and its events by type. */
function observed(options: Omit<ReActAgentOptions, "name">) {
  const events: AgentEvent[] = [];
  const agent = new ReActAgent({ name: "a", ...options, onEvent: (event) => events.push(event) });
  const of = <T extends AgentEvent["type"]>(type: T) =>
    events.filter((event): event is EventOf<T> => event.type === type);
  return { agent, events, of };
}

function withHooks(hooks: Omit<Middleware, "name">) {
  const setup = (host: { use(middleware: Middleware): void }) => host.use({ name: "h", ...hooks });
  return [definePlugin({ name: "h", contract: 1, setup })];
}

const input = z.object({});
const askFor = (name: string) => ({ toolCalls: [{ name, input: {} }] });

describe("the id of a reply", () => {
  test("is known when its request goes out, and is that of the message in reply, context and log", async () => {
    const log = new InMemoryConversationLog();
    const noop = tool({ name: "noop", description: "Nothing.", input, execute: () => "ok" });
    const model = scriptedModel([askFor("noop"), "done"]);
    const { agent, of } = observed({ model, tools: [noop], log });
    const reply = await agent.call("go", { sessionId: "s" });
    const ids = of("model_call_start").map(({ messageId }) => messageId);
    expect(ids).toHaveLength(2);
    expect(reply.message.id).toBe(ids[1]);
    const state = await agent.getAgentState(null, "s");
    const said = (state?.context ?? []).filter(({ role }) => role === "assistant");
    expect(said.map(({ id }) => id)).toEqual(ids);
    const records = await log.read({ agentId: "a", userId: null, sessionId: "s" });
    const logged = records.flatMap(({ message }) => (message?.role === "assistant" ? message : []));
    expect(logged.map(({ id }) => id)).toEqual(ids);
    expect(of("tool_call_start")).toMatchObject([{ messageId: ids[0] }]);
    expect(new Set(of("text_delta").map(({ messageId }) => messageId))).toEqual(new Set([ids[1]]));
  });

  test("is another one for each attempt, and the one that is taken back is named", async () => {
    const broken = new ModelError("broken", { retryable: true });
    const model = chunkModel([
      [text("no"), broken],
      [text("yes"), finish()],
    ]);
    const { agent, of } = observed({ model, modelRetry: { baseDelayMs: 0 } });
    const reply = await agent.call("go");
    const [first, second] = of("model_call_start").map(({ messageId }) => messageId);
    expect(of("attempt_discarded")).toMatchObject([{ messageId: first }]);
    expect(reply.message.id).toBe(second);
    expect(of("text_delta")).toMatchObject([
      { text: "no", messageId: first },
      { text: "yes", messageId: second },
    ]);
  });

  test("stays when a hook puts another message in its place", async () => {
    const hooks: Omit<Middleware, "name"> = {
      async onReasoning(_, next) {
        await next();
        return createMessage("assistant", "mine");
      },
    };
    const { agent, of } = observed({ model: scriptedModel(["theirs"]), plugins: withHooks(hooks) });
    const reply = await agent.call("go", { sessionId: "s" });
    expect(reply.text).toBe("mine");
    expect(reply.message.id).toBe(of("model_call_start")[0]?.messageId);
    const state = await agent.getAgentState(null, "s");
    expect(state?.context.at(-1)?.id).toBe(reply.message.id);
  });

  test("is that of what an interrupted reply has said", async () => {
    const model: Model = {
      id: "stuck",
      async *stream() {
        yield text("half");
        await new Promise(() => {});
      },
    };
    const { agent, of } = observed({ model });
    const call = agent.call("go", { sessionId: "s" });
    await eventually(() => of("text_delta").length === 1);
    await agent.interrupt(null, "s");
    expect((await call).message.id).toBe(of("text_delta")[0]?.messageId);
  });

  test("comes with a reply from a record as well", async () => {
    const { agent, of } = observed({ model: scriptedModel(["once"]) });
    const ctx = { sessionId: "s", callId: "c" };
    const { message } = await agent.call("go", ctx);
    const before = of("text_delta").length;
    await agent.call("go", ctx);
    expect(of("text_delta").slice(before)).toMatchObject([{ text: "once", messageId: message.id }]);
  });
});

describe("blocks of a stream", () => {
  const piece = (type: "text_delta" | "thinking_delta", value: string, block?: string) =>
    ({ type, text: value, ...(block !== undefined && { block }) }) as ModelChunk;

  async function streamed(chunks: ScriptedStream) {
    const { agent, events } = observed({ model: chunkModel([[...chunks, finish()]]) });
    await agent.call("go");
    return events;
  }

  test("have an id each: a new one for every kind, name, and piece behind something else", async () => {
    const events = await streamed([
      ...[piece("thinking_delta", "a"), piece("thinking_delta", "b")],
      ...[text("c"), text(""), text("d")],
      { type: "data", mediaType: "image/png", source: { kind: "base64", data: "AA" } },
      ...[piece("text_delta", "e", "1"), piece("text_delta", "f", "2")],
      piece("text_delta", "g", "1"),
    ]);
    const shown = events.flatMap((event) => ("blockId" in event ? [event] : []));
    const numbers = new Map<string, number>();
    for (const { blockId } of shown) numbers.set(blockId, numbers.get(blockId) ?? numbers.size);
    expect(shown.map((event) => `${event.text}${numbers.get(event.blockId)}`)).toEqual([
      "a0",
      "b0",
      "c1",
      "d1",
      "e2",
      "f3",
      "g4",
    ]);
  });

  test("come in a row, whatever the model streams, and hold all of its words", async () => {
    const chunk = fc.oneof(
      fc.record({
        type: fc.constantFrom("text_delta" as const, "thinking_delta" as const),
        text: fc.constantFrom("", "x", "yz"),
        block: fc.constantFrom(undefined, "1", "2"),
      }),
      fc.constant<ModelChunk>({
        type: "data",
        mediaType: "text/plain",
        source: { kind: "url", url: "data:," },
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 20 }), async (chunks) => {
        const events = await streamed([text("."), ...(chunks as ModelChunk[])]);
        const ids = events.flatMap((event) =>
          "blockId" in event ? event.blockId : event.type === "data" ? "data" : [],
        );
        const runs = ids.filter((id, index) => id !== "data" && id !== ids[index - 1]);
        expect(new Set(runs).size).toBe(runs.length);
        for (const kind of ["text_delta", "thinking_delta"] as const) {
          const given = [text("."), ...chunks].filter(({ type }) => type === kind);
          const told = events.filter(({ type }) => type === kind);
          const words = (list: readonly object[]) =>
            list.map((one) => ("text" in one ? one.text : "")).join("");
          expect(words(told)).toBe(words(given));
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe("the result of a tool", () => {
  const runs = (execute: () => unknown, options: Partial<ReActAgentOptions> = {}) => {
    const tools = [tool({ name: "t", description: "T.", input, execute })];
    return observed({ model: scriptedModel([askFor("t"), "done"]), tools, ...options });
  };

  test("is told as the model gets it, after the hooks", async () => {
    const hooks: Omit<Middleware, "name"> = {
      onToolResult: (result) => ({ ...result, output: [{ type: "text", text: "short" }] }),
    };
    const { agent, of } = runs(() => "long", { plugins: withHooks(hooks) });
    await agent.call("go");
    expect(of("tool_result")).toMatchObject([
      { state: "success", output: [{ type: "text", text: "short" }] },
    ]);
    expect(of("tool_result")[0]).not.toHaveProperty("truncated");
  });

  test("is cut at 65,536 characters, and data beyond them is a note", async () => {
    const file: DataBlock = {
      type: "data",
      mediaType: "image/png",
      name: "big.png",
      source: { kind: "base64", data: "A".repeat(70_000) },
    };
    const small: DataBlock = { ...file, source: { kind: "base64", data: "AAAA" } };
    const output = [file, small, { type: "text" as const, text: "é".repeat(70_000) }];
    const { agent, of } = runs(() => toolResult({ output }));
    await agent.call("go");
    const [event] = of("tool_result");
    expect(event?.output).toEqual([
      { type: "text", text: expect.stringContaining("image/png big.png, 70000 characters") },
      small,
      { type: "text", text: "é".repeat(65_532) },
    ]);
    expect(event?.truncated).toEqual({ chars: 70_000 + 70_000 - 65_532 });
  });

  test("tells listeners what was thrown, also through a safe tool that tells the model less", async () => {
    const cause = new TypeError("secret detail");
    const safe = safeTool({
      name: "t",
      description: "T.",
      input,
      run: () => {
        throw cause;
      },
    });
    const model = scriptedModel([askFor("t"), "done"]);
    const { agent, of } = observed({ model, tools: [safe] });
    await agent.call("go", { sessionId: "s" });
    expect(of("tool_result")).toMatchObject([
      { state: "error", error: { name: "TypeError", message: "secret detail" } },
    ]);
    const state = await agent.getAgentState(null, "s");
    expect(JSON.stringify(state?.context)).not.toContain("secret");
    expect(JSON.stringify(model.requests)).not.toContain("secret");
  });

  test("that did not come in time says so", async () => {
    const { agent, of } = runs(() => new Promise(() => {}), { toolTimeoutMs: 20 });
    await agent.call("go");
    expect(of("tool_result")).toMatchObject([
      { state: "error", error: { name: "TimeoutError", message: "no result within 20 ms" } },
    ]);
  });

  test("is told for every call that will not run, so that none stays open for a reader", async () => {
    const { agent, of } = runs(() => "never", { maxIterations: 1 });
    await agent.call("go");
    const [started] = of("tool_call_start");
    expect(of("tool_result")).toMatchObject([
      {
        toolCallId: started?.toolCallId,
        state: "error",
        output: [{ text: "Not run: the limit of 1 steps was reached." }],
      },
    ]);
  });
});

describe("progress of a tool", () => {
  test("is told at once the first time, and the last value before the result", async () => {
    let late: ((value: number) => void) | undefined;
    const count = tool({
      name: "count",
      description: "Counts.",
      input,
      execute: (_, ctx) => {
        for (let n = 1; n <= 1_000; n++) ctx.progress({ n });
        late = (value) => ctx.progress(value);
        return "counted";
      },
    });
    const { agent, events, of } = observed({
      model: scriptedModel([askFor("count"), "done"]),
      tools: [count],
    });
    await agent.call("go");
    late?.(1_001);
    const [started] = of("tool_call_start");
    const about = { toolCallId: started?.toolCallId, name: "count" };
    expect(of("tool_progress")).toMatchObject([
      { ...about, progress: { n: 1 } },
      { ...about, progress: { n: 1_000 } },
    ]);
    const types = events.map(({ type }) => type);
    expect(types.lastIndexOf("tool_progress")).toBeLessThan(types.indexOf("tool_result"));
  });

  test("is nothing any more once the tool has ended", async () => {
    let late: (() => void) | undefined;
    const quiet = tool({
      name: "quiet",
      description: "Says nothing.",
      input,
      execute: (_, ctx) => {
        late = () => ctx.progress("too late");
        return "ok";
      },
    });
    const model = scriptedModel([askFor("quiet"), "done"]);
    const { agent, of } = observed({ model, tools: [quiet] });
    await agent.call("go");
    late?.();
    expect(of("tool_progress")).toEqual([]);
  });

  test("goes on while the tool runs, and no value makes the tool fail", async () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const odd = [10n, circle, "x".repeat(100_000), undefined, () => 1, { toJSON: "no" }];
    const { agent, of } = observed({
      model: scriptedModel([askFor("odd"), "done"]),
      tools: [
        tool({
          name: "odd",
          description: "Odd.",
          input,
          execute: async (_, ctx) => {
            for (const [index, value] of odd.entries()) {
              ctx.progress(value as never);
              await eventually(() => of("tool_progress").length > index);
            }
            return "ok";
          },
        }),
      ],
    });
    await agent.call("go");
    expect(of("tool_result")).toMatchObject([{ state: "success" }]);
    expect(of("tool_progress")).toHaveLength(odd.length);
    for (const { progress } of of("tool_progress"))
      expect(JSON.stringify(progress).length).toBeLessThan(16_500);
  });
});

test("the end of a model call says how much of the window is in use, as far as it is known", async () => {
  const usage = { inputTokens: 100, outputTokens: 20 };
  const known = observed({
    model: scriptedModel([{ text: "a", usage }], { contextWindow: 1_000 }),
  });
  await known.agent.call("go");
  expect(known.of("model_call_end")).toMatchObject([{ contextTokens: 120, contextWindow: 1_000 }]);
  const none = { inputTokens: 0, outputTokens: 0 };
  const unknown = observed({ model: scriptedModel([{ text: "a", usage: none }]) });
  await unknown.agent.call("go");
  const [end] = unknown.of("model_call_end");
  expect(end).not.toHaveProperty("contextTokens");
  expect(end).not.toHaveProperty("contextWindow");
});
