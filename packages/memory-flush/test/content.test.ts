import {
  assistantMessage,
  type Block,
  type CallOutcome,
  type Message,
  ReActAgent,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import { createMessage } from "@holdfast/core/plugin-kit";
import { type LogDraft, uuidv7 } from "@holdfast/core/store-kit";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { readUnflushed } from "../src/flush/read-unflushed.js";
import { renderMessage } from "../src/flush/render-message.js";
import { alice, MemoryWorld, memoryAgent, noConsolidation, questionOf } from "./memory-world.js";

const at = "2025-03-10T12:00:00.000Z";

function said(callId: string, ...messages: Message[]): LogDraft[] {
  return messages.map((message) => ({
    ...{ v: 1, id: message.id, callId, at, kind: "message", message },
  }));
}

function ended(callId: string, outcome: CallOutcome): LogDraft {
  const mark = { name: "call_end", outcome };
  return { v: 1, id: uuidv7(), callId, at, kind: "mark", mark };
}

async function unflushed(world: MemoryWorld, after = 0): Promise<string> {
  const { messages } = await readUnflushed(world.store, alice, after);
  return messages.map(({ text }) => text).join("\n");
}

test("calls that were taken back or came to a conflict are not remembered, others are", async () => {
  const world = new MemoryWorld();
  const outcomes: CallOutcome[] = ["committed", "conflict", "rolled_back", "interrupted", "error"];
  for (const outcome of outcomes)
    await world.store.log.append(alice, [
      ...said(outcome, userMessage(`said in a call that was ${outcome}`)),
      ended(outcome, outcome),
    ]);
  await world.store.log.append(alice, said("crashed", userMessage("said before the crash")));
  const text = await unflushed(world);
  for (const kept of ["was committed", "was interrupted", "was error", "before the crash"])
    expect(text).toContain(kept);
  for (const gone of ["was conflict", "was rolled_back"]) expect(text).not.toContain(gone);
});

test("a crashed call that the next one took back is not remembered", async () => {
  const world = new MemoryWorld();
  await world.store.log.append(alice, [
    ...said("crashed", userMessage("taken back")),
    ended("crashed", "rolled_back"),
    ...said("next", userMessage("instead")),
    ended("next", "committed"),
  ]);
  expect(await unflushed(world)).toContain("instead");
  expect(await unflushed(world)).not.toContain("taken back");
});

test("how a call ended is found also where it is far beyond what is read at a time", async () => {
  const world = new MemoryWorld();
  const many = Array.from({ length: 2_500 }, (_, index) => userMessage(`line ${index}.`));
  await world.store.log.append(alice, said("long", ...many));
  await world.store.log.append(alice, [ended("long", "rolled_back")]);
  const found = await readUnflushed(world.store, alice, 0);
  expect(found).toMatchObject({ messages: [], hasMore: true });
  const rest = await readUnflushed(world.store, alice, found.through);
  expect(rest).toMatchObject({ messages: [], hasMore: false });
});

test("the turns that a fork begins with are remembered from its source, and its own from it", async () => {
  const world = new MemoryWorld();
  const agent = new ReActAgent({
    name: alice.agentId,
    model: scriptedModel(() => "ok"),
    distributedStore: world.store,
  });
  await agent.updateAgentState({ ...alice, sessionId: "source" }, (state) => {
    for (let n = 0; n < 120; n++) state.contextMutable().push(userMessage(`said before ${n}`));
  });
  await agent.fork({ ...alice, sessionId: "source" }, { as: alice.sessionId });
  expect(await unflushed(world)).toBe("");
  await agent.call("said since", alice);
  const text = await unflushed(world);
  expect(text).toContain("said since");
  expect(text).not.toContain("said before");
});

test("system messages, thoughts, summaries and echoes of the memory are left out", () => {
  expect(renderMessage(createMessage("system", [{ type: "text", text: "secret" }]))).toBeNull();
  const blocks: Block[] = [
    { type: "thinking", text: "thought" },
    { type: "hint", text: "summed up", source: "summary" },
    { type: "tool_call", id: "1", name: "memory_search", input: { query: "echo" } },
    { type: "tool_call", id: "2", name: "session_history", input: { lastN: 7 } },
  ];
  expect(renderMessage(assistantMessage(blocks))).toBeNull();
  const results = ["memory_search", "session_search"].map((name, index) => ({
    ...{ type: "tool_result" as const, toolCallId: String(index), name, state: "success" as const },
    output: [{ type: "text" as const, text: "echo" }],
  }));
  expect(renderMessage(toolResultMessage(results))).toBeNull();
});

test("what a server called memory or session found is remembered: only the built-in tools echo", () => {
  for (const name of ["memory_read_graph", "session_export", "memory_searches"]) {
    const call: Block = { type: "tool_call", id: "1", name, input: { of: "Ann" } };
    expect(renderMessage(assistantMessage([call]))).toContain("Ann");
    const output = [{ type: "text" as const, text: "Ann lives in Oslo" }];
    const result = toolResultMessage([
      { type: "tool_result", toolCallId: "1", name, state: "success", output },
    ]);
    expect(renderMessage(result)).toContain("Oslo");
  }
});

test("long texts, arguments and results are cut to head and tail", () => {
  const long = `HEAD${"x".repeat(50_000)}TAIL`;
  const text = renderMessage(userMessage(long)) ?? "";
  expect(text.length).toBeLessThan(6_200);
  expect(text).toMatch(/HEADx+ \[… \d+ characters left out …\] x+TAIL/);
  const call = renderMessage(
    assistantMessage([{ type: "tool_call", id: "1", name: "write", input: { text: long } }]),
  );
  expect(call?.length).toBeLessThan(700);
  const result = renderMessage(
    toolResultMessage([
      {
        ...{ type: "tool_result", toolCallId: "1", name: "read", state: "error" },
        output: [{ type: "text", text: long }],
      },
    ]),
  );
  expect(result?.length).toBeLessThan(1_200);
  expect(result).toContain('<result tool="read" state="error">HEAD');
});

test("a text that the log keeps apart because it is long is seen", async () => {
  const world = new MemoryWorld();
  const long = `HEAD${"x".repeat(200_000)}TAIL`;
  await world.store.log.append(alice, said("call", userMessage(long)));
  expect(await unflushed(world)).toMatch(/HEADx+.*x+TAIL/);
});

test("a long conversation takes several requests, and nothing of it is left out", async () => {
  const world = new MemoryWorld();
  const words = (index: number) => `message ${index} ${"some words here ".repeat(300)}`;
  const messages = Array.from({ length: 60 }, (_, index) => userMessage(words(index)));
  await world.store.log.append(alice, said("long", ...messages));
  const one = memoryAgent(world, {
    flush: (_, index) => `- fact ${index}`,
    memory: { consolidation: noConsolidation },
  });
  await one.say("the end");
  await one.seen("memory_flush_end");
  const questions = one.flushes().map(questionOf);
  expect(questions.length).toBeGreaterThan(2);
  for (const question of questions) expect(question.length).toBeLessThan(150_000);
  for (const index of messages.keys())
    expect(questions.filter((text) => text.includes(`message ${index} `))).toHaveLength(1);
  expect(await world.facts()).toEqual(questions.map((_, index) => `- fact ${index}`));
});

test("a flush makes at most 8 requests; the next one goes on where it ended", async () => {
  const world = new MemoryWorld();
  const words = (index: number) => `message ${index} ${"some words here ".repeat(300)}`;
  const messages = Array.from({ length: 260 }, (_, index) => userMessage(words(index)));
  await world.store.log.append(alice, said("long", ...messages));
  const one = memoryAgent(world, {
    memory: { consolidation: noConsolidation, flushTrigger: { throttleMs: 1_000 } },
  });
  await one.say("the end");
  await one.seen("memory_flush_end");
  expect(one.flushes()).toHaveLength(8);
  world.time += 1_000;
  await one.seen("memory_flush_end", 2);
  const questions = one.flushes().map(questionOf);
  for (const index of messages.keys())
    expect(questions.filter((text) => text.includes(`message ${index} `))).toHaveLength(1);
});

test("a model with a small window gets small requests", async () => {
  const world = new MemoryWorld();
  const messages = Array.from({ length: 12 }, (_, index) =>
    userMessage(`message ${index} ${"some words here ".repeat(100)}`),
  );
  await world.store.log.append(alice, said("long", ...messages));
  await world.files.writeMemory(alice, "- a known fact\n".repeat(5_000));
  const one = memoryAgent(world, {
    memory: { consolidation: noConsolidation, model: undefined },
    agent: { model: smallModel() },
  });
  await one.say("the end");
  await one.seen("memory_flush_end");
});

function smallModel() {
  return {
    id: "small",
    contextWindow: 4_000,
    async *stream({ messages }: { readonly messages: readonly Message[] }) {
      const chars = JSON.stringify(messages.at(0)?.content).length;
      if (chars > 4_000 * 6) throw new Error(`a request of ${chars} characters`);
      yield { type: "text_delta" as const, text: "NOTHING" };
      const usage = { inputTokens: 1, outputTokens: 1 };
      yield { type: "finish" as const, reason: "stop" as const, usage };
    },
  };
}
