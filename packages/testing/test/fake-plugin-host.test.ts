import {
  type AgentEvent,
  assistantMessage,
  definePlugin,
  InMemoryKeyValueStore,
  type Model,
  type Plugin,
  type PluginHost,
  type PluginStateOptions,
  type Tool,
  textOf,
  tool,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { fakePluginHost, scriptedModel } from "../src/index.js";

const made = (setup: (host: PluginHost) => void): Plugin =>
  definePlugin({ name: "sample", contract: 1, setup });

const anything: PluginStateOptions<number>["schema"] = {
  "~standard": { version: 1, vendor: "test", validate: (value) => ({ value: value as number }) },
};

function named(name: string): Tool {
  const input = { schema: anything, jsonSchema: { type: "object" } };
  return tool({ name, description: `Does ${name}.`, input, execute: () => name });
}

describe("a fake plugin host", () => {
  test("records what a plugin registers", () => {
    const late: Tool[] = [];
    const host = fakePluginHost({ agent: { name: "Guide", agentId: "guide" } }).install(
      made((inner) => {
        expect(inner.agent).toEqual({ name: "Guide", agentId: "guide" });
        inner.use({ name: "m" });
        inner.tool(named("one"));
        inner.toolSource(() => late);
        inner.toolGroup({ name: "group", active: true });
        inner.promptSection((prompt) => `${prompt} Be kind.`);
        inner.provide("keyValue", new InMemoryKeyValueStore());
        inner.require("log");
      }),
    );
    late.push(named("two"));
    expect(host.middleware).toEqual([{ name: "m" }]);
    expect(host.tools.map(({ name }) => name)).toEqual(["one", "two"]);
    expect(host.toolGroups).toEqual([{ name: "group", active: true }]);
    expect(Object.keys(host.provided)).toEqual(["keyValue"]);
    expect(host.required).toEqual(["log"]);
  });

  test("refuses what a plugin registers after setup, as an agent does", async () => {
    const host = fakePluginHost().install(
      made((inner) => inner.onStart(async () => inner.use({ name: "late" }))),
    );
    await expect(host.start()).rejects.toThrow('plugin "sample" called host.use after setup');
    expect(host.middleware).toEqual([]);
  });

  test("has ports in memory, which setup cannot use yet, or those given", async () => {
    const model = scriptedModel(["Mine."], { id: "mine" });
    let port: Model | undefined;
    let optional = (): Model | undefined => undefined;
    let none = (): object | undefined => ({});
    const host = fakePluginHost({ ports: { model, filesystem: null } }).install(
      made((inner) => {
        port = inner.require("model");
        optional = inner.optional("model");
        none = inner.optional("filesystem");
        expect(() => inner.require("log").read).toThrow("before the agent is built");
        expect(optional()?.id).toBe("mine");
        expect(() => optional()?.stream({} as never)).toThrow("before the agent is built");
      }),
    );
    expect(port?.id).toBe("mine");
    expect(optional()).toBe(model);
    expect(none()).toBeUndefined();
    const log = host.require("log");
    expect(await log.read(host.step().slot)).toEqual([]);
    expect(() => host.require("filesystem").read).toThrow("nothing provides the filesystem");
  });

  test("runs hooks around a core, the first outermost, and makes system prompts", async () => {
    const order: string[] = [];
    const around = (name: string) => ({
      name,
      async onReasoning(_: unknown, next: () => Promise<ReturnType<typeof assistantMessage>>) {
        order.push(`${name} before`);
        const message = await next();
        order.push(`${name} after`);
        return message;
      },
    });
    const host = fakePluginHost().install(
      made((inner) => {
        inner.use(around("outer"));
        inner.use({ ...around("inner"), onSystemPrompt: (prompt) => `${prompt} Last.` });
        inner.promptSection((prompt) => `${prompt} Section.`);
      }),
    );
    const step = { ...host.step(), iteration: 0, hint: () => {}, stop: () => {} };
    const message = assistantMessage("Hello.");
    expect(await host.run("onReasoning", step, async () => message)).toBe(message);
    expect(order).toEqual(["outer before", "inner before", "inner after", "outer after"]);
    expect(await host.systemPrompt("First.")).toBe("First. Section. Last.");
  });

  test("runs the pipelines of messages from outside and of tool results, in order", async () => {
    const seen: unknown[] = [];
    const redact = (text: string) => text.replaceAll(/\S+@\S+/g, "[email]");
    const host = fakePluginHost().install(
      made((inner) => {
        inner.tool(named("look_up"));
        inner.use({
          name: "pii",
          onIncoming(message, { origin, call, tool: one, slot, ctx }) {
            seen.push([origin, call?.id, one?.name, slot.sessionId === ctx.sessionId]);
            const content = message.content.map((block) =>
              block.type === "text" ? { ...block, text: redact(block.text) } : block,
            );
            return { ...message, content };
          },
          onToolResult(result, step) {
            seen.push([step.call.name, step.tool.name, step.state.context.length]);
            const output = result.output.map((block) =>
              block.type === "text" ? { ...block, text: redact(block.text) } : block,
            );
            return { ...result, output };
          },
        });
        inner.use({
          name: "second",
          onIncoming: async (message, { emit }) => {
            emit({ type: "text_delta", text: textOf(message), messageId: "m", blockId: "m.1" });
            return message;
          },
          onToolResult: (result) => ({ ...result, metadata: { seen: true } }),
        });
      }),
    );
    const given = userMessage("I am ann@example.org today");
    const received = await host.incoming(given);
    expect(textOf(received)).toBe("I am [email] today");
    expect([received.id, received.createdAt]).toEqual([given.id, given.createdAt]);
    expect(textOf(await host.incoming("b@c.d", { origin: "interrupt" }))).toBe("[email]");
    const result = await host.toolResult("Write to a@b.c now");
    expect(result).toMatchObject({
      output: [{ text: "Write to [email] now" }],
      metadata: { seen: true },
    });
    const found = { ...result, toolCallId: "c1", name: "look_up" };
    await host.incoming(toolResultMessage(found));
    await host.toolResult(found);
    expect(seen).toEqual([
      ["input", undefined, undefined, true],
      ["interrupt", undefined, undefined, true],
      ["tool", "tool", 0],
      ["tool_result", "c1", "look_up", true],
      ["look_up", "look_up", 0],
    ]);
    expect(host.events.map((event) => "text" in event && event.text)).toEqual([
      ...["I am [email] today", "[email]", ""],
    ]);
  });

  test("refuses what an agent would refuse of a pipeline", async () => {
    const host = fakePluginHost().install(
      made((inner) =>
        inner.use({
          name: "m",
          onIncoming: () => assistantMessage("no"),
          onToolResult: (result) => ({ ...result, toolCallId: "other" }),
        }),
      ),
    );
    await expect(host.incoming("hi")).rejects.toThrow(/"m": onIncoming returned a message of role/);
    await expect(host.toolResult("x")).rejects.toThrow(/onToolResult returned the result of anoth/);
  });

  test("records events and marks of steps and of the background, and hands them to observers", () => {
    const seen: AgentEvent[] = [];
    const host = fakePluginHost().install(made((inner) => inner.observe((one) => seen.push(one))));
    const step = host.step();
    step.emit({ type: "text_delta", text: "a", messageId: "m", blockId: "m.1" });
    step.mark({ name: "noted" });
    host.emit(step.slot, "work", { type: "error", code: "X", message: "y" });
    expect(host.events).toMatchObject([
      { type: "text_delta", text: "a", slot: step.slot, runId: step.runId, seq: 0 },
      { type: "error", callId: "work", background: true },
    ]);
    expect(seen).toEqual(host.events);
    expect(host.marks).toEqual([{ name: "noted" }]);
  });

  test("refuses what an agent would refuse to emit", () => {
    const host = fakePluginHost().install(made(() => {}));
    const wrong = { type: "error", code: "X", message: 1n as never } as const;
    expect(() => host.emit(host.step().slot, "c", wrong)).toThrow('plugin "sample"');
    expect(() => host.step().emit(wrong)).toThrow('plugin "sample"');
  });

  test("answers questions from a script and records them", async () => {
    const host = fakePluginHost({ ports: { model: scriptedModel(["Blue."]) } });
    const question = {
      ...{ from: host.step(), model: host.require("model"), purpose: "colour", maxChars: 100 },
      request: { system: "", messages: [userMessage("Which?")], tools: [] },
      signal: new AbortController().signal,
    };
    expect((await host.askModel(question)).text).toBe("Blue.");
    expect(host.questions).toEqual([question]);
    expect(host.events.map(({ type }) => type)).toEqual(["model_call_start", "model_call_end"]);
  });

  test("keeps state of sessions, and runs start, deletion and close", async () => {
    const ran: string[] = [];
    let count = (_: ReturnType<typeof host.step>): number => 0;
    const host = fakePluginHost({ now: () => new Date(0) }).install(
      made((inner) => {
        const state = inner.state({ schema: anything, initial: () => 1 });
        count = (step) => {
          state.set(step.state, state.get(step.state) + 1);
          return state.get(step.state);
        };
        inner.onStart(async () => void ran.push(`start ${inner.now().getTime()}`));
        inner.onClose(() => void ran.push("close first"));
        inner.onClose(() => void ran.push("close second"));
        inner.onDelete(async ({ sessionId }) => void ran.push(`delete ${sessionId}`));
        inner.onDeleteUser(async (userId) => void ran.push(`delete user ${userId}`));
      }),
    );
    const step = host.step();
    expect([count(step), count(step), count(host.step())]).toEqual([2, 3, 2]);
    expect(step.state.extensions).toEqual({ sample: { version: 1, value: 3 } });
    await host.start();
    await host.deleteSession(step.slot);
    await host.deleteUser("ann");
    await host.close();
    expect(ran).toEqual([
      ...["start 0", "delete session", "delete user ann", "close second", "close first"],
    ]);
  });
});
