import {
  assistantMessage,
  definePlugin,
  type Middleware,
  MiddlewareError,
  ReActAgent,
  textOf,
  tool,
} from "@holdfast/core";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";

type Hook = Exclude<keyof Middleware, "name" | "before" | "after">;

/** An agent whose model calls a tool once, with one middleware named "bad". */
function agentWith(hooks: Omit<Middleware, "name">, more = {}) {
  const ran: string[] = [];
  const work = tool({
    name: "work",
    description: "Works.",
    input: z.object({}),
    async execute() {
      ran.push("began");
      await new Promise((resolve) => setImmediate(resolve));
      ran.push("ended");
      return "done";
    },
  });
  const script: ScriptedReply[] = [{ toolCalls: [{ name: "work", input: {} }] }, "answer"];
  const model = scriptedModel(script);
  const agent = new ReActAgent({
    name: "a",
    model,
    tools: [work],
    middleware: [{ name: "good" }, { name: "bad", ...hooks }],
    ...more,
  });
  return { agent, model, ran };
}

async function failure(agent: ReActAgent): Promise<MiddlewareError> {
  const error: unknown = await agent.call("go").then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(MiddlewareError.is(error), String(error)).toBe(true);
  return error as MiddlewareError;
}

describe("next() called twice", () => {
  const twice = async <R>(_: unknown, next: () => Promise<R>): Promise<R> => {
    await next();
    return next();
  };

  test.each<[Hook, Omit<Middleware, "name">]>([
    ["onRun", { onRun: twice }],
    ["onCall", { onCall: twice }],
    ["onReasoning", { onReasoning: twice }],
    ["onActing", { onActing: twice }],
    ["onToolCall", { onToolCall: twice }],
    [
      "onModelCall",
      {
        async *onModelCall(_, next) {
          yield* next();
          yield* next();
        },
      },
    ],
  ])("in %s fails the call and names middleware and hook", async (hook, hooks) => {
    const { agent, ran, model } = agentWith(hooks);
    const error = await failure(agent);
    expect(error).toMatchObject({ code: "MIDDLEWARE", middleware: "bad", hook });
    expect(error.message).toContain(`middleware "bad": ${hook} called next() twice`);
    expect(ran.filter((word) => word === "began").length).toBeLessThanOrEqual(1);
    const state = await agent.getAgentState();
    expect(state?.context.filter((message) => textOf(message) === "go")).toHaveLength(1);
    expect(model.requests.length).toBeLessThanOrEqual(2);
  });

  test("at the same time waits for the one that runs", async () => {
    const { agent, ran } = agentWith({
      onToolCall: async (_, next) => (await Promise.all([next(), next()]))[0],
    });
    await failure(agent);
    expect(ran).toEqual(["began", "ended"]);
  });

  test("fails the call also when the hook waits for neither and hides the error", async () => {
    const { agent, ran } = agentWith({
      async onToolCall(step, next) {
        void next();
        void next();
        return {
          ...step.call,
          type: "tool_result",
          toolCallId: step.call.id,
          output: [],
          state: "success",
        };
      },
    });
    await failure(agent);
    expect(ran).toEqual(["began", "ended"]);
  });

  test("after a failure names that as the cause", async () => {
    const { agent } = agentWith(
      {
        onReasoning: async (_, next) => {
          try {
            return await next();
          } catch {
            return next();
          }
        },
      },
      { model: scriptedModel([{ error: new Error("the model is down") }, "answer"]) },
    );
    expect((await failure(agent)).cause).toMatchObject({ message: "the model is down" });
  });

  test("does not keep a session from going on", async () => {
    let isBad = true;
    const { agent } = agentWith({
      async onToolCall(_, next) {
        if (isBad) await next();
        return next();
      },
    });
    await failure(agent);
    isBad = false;
    expect((await agent.call("again")).text).toBe("answer");
  });
});

test("next() called after the hook returned runs nothing", async () => {
  let late: () => Promise<unknown> = async () => undefined;
  const { agent, ran } = agentWith({
    async onToolCall({ call: { id, name } }, next) {
      late = next;
      return {
        type: "tool_result",
        toolCallId: id,
        name,
        output: [{ type: "text", text: "cached" }],
        state: "success",
      };
    },
  });
  expect((await agent.call("go")).text).toBe("answer");
  await expect(late()).rejects.toThrow(
    'middleware "bad": onToolCall called next() after it had returned',
  );
  expect(ran).toEqual([]);
});

describe("a hook that returns something of the wrong type", () => {
  const nothing = (async () => undefined) as never;
  const notAsync = (() => undefined) as never;
  const others = [
    { type: "tool_result", toolCallId: "x", name: "y", output: [], state: "success" },
  ];

  test.each<[Hook, string, Omit<Middleware, "name">]>([
    ["onRun", "undefined where an AgentReply is needed", { onRun: nothing }],
    ["onCall", "undefined where an AgentReply is needed", { onCall: nothing }],
    ["onReasoning", "undefined where a message is needed", { onReasoning: nothing }],
    [
      "onReasoning",
      "something else than was asked for",
      {
        onReasoning: (async () => ({
          ...assistantMessage("x"),
          content: [{ type: "text" }],
        })) as never,
      },
    ],
    ["onModelCall", "undefined where an async iterable", { onModelCall: notAsync }],
    ["onModelCall", "a Promise where an async iterable", { onModelCall: nothing }],
    ["onActing", "undefined where a list of tool results", { onActing: nothing }],
    ["onActing", "two results of one tool call", { onActing: (async () => others) as never }],
    ["onToolCall", "undefined where a tool result", { onToolCall: nothing }],
    [
      "onToolCall",
      "the result of another tool call",
      { onToolCall: (async () => others[0]) as never },
    ],
    ["onToolResult", "undefined where a tool result", { onToolResult: nothing }],
    [
      "onToolResult",
      "something else than was asked for",
      { onToolResult: ((result: object) => ({ ...result, output: "text" })) as never },
    ],
    ["onSystemPrompt", "undefined where the system prompt", { onSystemPrompt: notAsync }],
    ["onIncoming", "undefined where a message is needed", { onIncoming: nothing }],
  ])("%s: %s", async (hook, problem, hooks) => {
    const { agent } = agentWith(hooks);
    const error = await failure(agent);
    expect(error).toMatchObject({ middleware: "bad", hook });
    expect(error.message).toContain(`middleware "bad": ${hook} returned ${problem}`);
  });

  test("a plugin's prompt section is named by its plugin", async () => {
    const forgetful = definePlugin({
      name: "forgetful",
      contract: 1,
      setup: (host) => host.promptSection((() => undefined) as never),
    });
    const { agent } = agentWith({}, { plugins: [forgetful] });
    expect((await failure(agent)).message).toContain(
      'middleware "forgetful": promptSection returned undefined',
    );
  });
});

test("an async onModelCall that fails ends its call and not the process", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  const hooks = {
    async onModelCall() {
      throw new Error("no luck");
    },
  };
  const { agent } = agentWith(hooks as never);
  const error = await failure(agent);
  expect(error.message).toContain("onModelCall returned a Promise where an async iterable");
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

describe("a stream that onModelCall changes", () => {
  test.each<[string, Omit<Middleware, "name">, RegExp]>([
    [
      "without its finish chunk",
      {
        async *onModelCall(_, next) {
          for await (const chunk of next()) if (chunk.type !== "finish") yield chunk;
        },
      },
      /"bad": onModelCall ended without the finish chunk/,
    ],
    [
      "of what is no chunk",
      {
        async *onModelCall(_, next) {
          for await (const chunk of next()) yield chunk;
          yield "text" as never;
        },
      },
      /"bad": onModelCall yielded a string where a chunk is needed/,
    ],
  ])("%s is blamed on the middleware, and not tried again", async (_, hooks, words) => {
    const { agent, model } = agentWith(hooks);
    expect((await failure(agent)).message).toMatch(words);
    expect(model.requests).toHaveLength(1);
  });
});

test("a plugin whose setup returns a promise is refused: it would register too late", () => {
  const late = definePlugin({
    name: "late",
    contract: 1,
    setup: (async () => undefined) as () => void,
  });
  expect(() => new ReActAgent({ name: "a", model: scriptedModel([]), plugins: [late] })).toThrow(
    /plugin "late": setup returned a promise/,
  );
});

test("a hook cannot say that a call begins or ends", async () => {
  const { agent } = agentWith({
    onCall: async (step, next) => {
      step.emit({ type: "call_end" } as never);
      return next();
    },
  });
  await expect(agent.call("go")).rejects.toThrow(
    /emitted "call_end", which the engine alone emits/,
  );
});

test("a call behind one whose onIncoming hook takes long can leave, or is refused if it may not wait", async () => {
  let release = () => {};
  const slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isFirst = true;
  const { agent } = agentWith({
    onIncoming: async (message) => {
      if (isFirst) {
        isFirst = false;
        await slow;
      }
      return message;
    },
  });
  const first = agent.call("first", { sessionId: "s" });
  const controller = new AbortController();
  const aborted = agent.call("second", { sessionId: "s", signal: controller.signal });
  const timed = agent.call("third", { sessionId: "s", queueTimeoutMs: 1 });
  controller.abort();
  await expect(aborted).rejects.toMatchObject({ code: "ABORTED" });
  await expect(timed).rejects.toMatchObject({ code: "SESSION_BUSY" });
  await expect(agent.call("fourth", { sessionId: "s", onBusy: "reject" })).rejects.toMatchObject({
    code: "SESSION_BUSY",
  });
  release();
  expect((await first).text).toBe("answer");
});
