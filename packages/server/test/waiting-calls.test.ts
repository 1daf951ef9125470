import {
  InMemoryAgentStateStore,
  type PendingCall,
  type ReActAgent,
  suspend,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import { eventually, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { agUiHandler } from "../src/ag-ui/index.js";
import { chatHandler } from "../src/ai-sdk/index.js";
import type { ChatMetadata, UiMessage } from "../src/ai-sdk/ui-message.js";
import { outputText } from "../src/run/tool-output.js";
import { openChat, serve } from "./chat-client.js";
import { identify, pay, servedAgent } from "./served-agents.js";

/** Tool that the page runs, once a person has approved it. */
const sign = tool({
  name: "sign",
  description: "Signs.",
  input: z.object({}),
  needsApproval: true,
});

test("a tool that the page runs after an approval gets its result", async () => {
  const model = scriptedModel([{ toolCalls: [{ name: "sign", input: {} }] }, "Signed."]);
  const agent = servedAgent(model, { tools: [sign] });
  const chat = openChat(await serve(chatHandler({ agent, identify })));
  await chat.sendMessage({ text: "Sign." });
  const [{ toolCallId = "" } = {}] = await agent.pending("alice", "trip");
  await chat.addToolApprovalResponse({ id: toolCallId, approved: true });
  const waits = [{ toolCallId, state: "suspended" }];
  await eventually(() => expect(chat.messages.at(-1)?.metadata?.pending).toMatchObject(waits));
  await eventually(() => expect(chat.status).toBe("ready"));
  await chat.addToolResult({ tool: "sign", toolCallId, output: "ok" });
  await chat.sendMessage();
  expect(chat.error).toBeUndefined();
  expect(chat.messages.at(-1)?.parts.at(-1)).toMatchObject({ text: "Signed." });
});

/** Tool that the page runs at once. */
const locate = tool({ name: "locate", description: "Locates.", input: z.object({}) });
const where = { message: "Where to?", schema: { type: "object", properties: {} } };
/** Tool that asks a question. */
const travel = tool({
  name: "travel",
  description: "Travels.",
  input: z.object({}),
  execute: (_, { answers }) =>
    answers.length > 0 ? "there" : suspend("asks", { question: where }),
});

/** An agent that pays, and calls tools beside that. */
function mixedAgent(...beside: readonly string[]): ReActAgent {
  const toolCalls = [
    { name: "pay", input: { cents: 5 } },
    ...beside.map((name) => ({ name, input: {} })),
  ];
  return servedAgent(scriptedModel([{ toolCalls }, "Done."]), { tools: [pay, locate, travel] });
}

/** Starts runs of AG-UI, and returns their last events. */
function runner(agent: ReActAgent) {
  const handler = agUiHandler({ agent, identify });
  const words = { id: "m", role: "user", content: "Go." };
  return async (
    runId: string,
    { messages = [], ...more }: { messages?: object[]; resume?: object[] },
  ) => {
    const body = { threadId: "trip", runId, protocolVersion: "1.0", ...more };
    const response = await handler(
      new Request("http://localhost/api/ag-ui", {
        method: "POST",
        headers: { authorization: "alice", "content-type": "application/json" },
        body: JSON.stringify({ ...body, messages: [words, ...messages] }),
      }),
    );
    const text = await response.text();
    expect(response.status, text).toBe(200);
    const [, last = ""] = /data: (.*)\s*$/.exec(text) ?? [];
    return JSON.parse(last) as { readonly outcome?: unknown };
  };
}

const approved = (interruptId = "") => ({
  ...{ interruptId, status: "resolved", payload: { approved: true } },
});

test.each([
  ["locate", ({ toolCallId: id }: PendingCall) => ({ type: "success", pendingToolCallIds: [id] })],
  ["travel", () => ({ type: "interrupt", interrupts: [{ message: "Where to?" }] })],
])(
  "what waits beside an approval waits on once it is given, in AG-UI: %s",
  async (beside, outcome) => {
    const agent = mixedAgent(beside);
    const run = runner(agent);
    await run("r1", {});
    const pending = await agent.pending("alice", "trip");
    const asking = pending.find(({ state }) => state === "asking");
    const end = await run("r2", { resume: [approved(asking?.toolCallId)] });
    const [left] = await agent.pending("alice", "trip");
    expect(left?.name).toBe(beside);
    expect(end.outcome).toMatchObject(outcome(left as PendingCall));
  },
);

test("an approval waits on once the result that came beside it is taken, in AG-UI", async () => {
  const agent = mixedAgent("locate");
  const run = runner(agent);
  await run("r1", {});
  const [asking, suspended] = await agent.pending("alice", "trip");
  const result = { id: "t", role: "tool", toolCallId: suspended?.toolCallId, content: "Oslo" };
  const interrupts = [{ id: asking?.toolCallId, reason: "tool_call" }];
  expect((await run("r2", { messages: [result] })).outcome).toMatchObject({ interrupts });
});

test("what waits beside an approval and a result that come together waits on alone, in AG-UI", async () => {
  const agent = mixedAgent("locate", "travel");
  const run = runner(agent);
  await run("r1", {});
  const pending = await agent.pending("alice", "trip");
  const [asking, suspended, left] = ["pay", "locate", "travel"].map((name) =>
    pending.find((call) => call.name === name),
  );
  const result = { id: "t", role: "tool", toolCallId: suspended?.toolCallId, content: "Oslo" };
  const end = await run("r2", { messages: [result], resume: [approved(asking?.toolCallId)] });
  expect(await agent.pending("alice", "trip")).toEqual([left]);
  expect(end.outcome).toMatchObject({ interrupts: [{ message: "Where to?" }] });
});

describe("a result that comes with an approval counts, too", () => {
  test("in AG-UI", async () => {
    const agent = mixedAgent("locate");
    const run = runner(agent);
    await run("r1", {});
    const [asking, suspended] = await agent.pending("alice", "trip");
    const result = { id: "t", role: "tool", toolCallId: suspended?.toolCallId, content: "Oslo" };
    const answers = { messages: [result], resume: [approved(asking?.toolCallId)] };
    for (let count = 0; count < 2; count++)
      expect((await run("r2", answers)).outcome).toEqual({ type: "success" });
    expect(await resultsOf(agent)).toEqual(['{"paid":5}', "Oslo"]);
  });

  test("in a chat", async () => {
    const agent = mixedAgent("locate");
    const chat = openChat(await serve(chatHandler({ agent, identify })));
    await chat.sendMessage({ text: "Go." });
    const [asking, suspended] = await agent.pending("alice", "trip");
    const { toolCallId = "" } = suspended ?? {};
    await chat.addToolResult({ tool: "locate", toolCallId, output: "Oslo" });
    await chat.addToolApprovalResponse({ id: asking?.toolCallId ?? "", approved: true });
    await eventually(() =>
      expect(chat.messages.at(-1)?.parts.at(-1)).toMatchObject({ text: "Done." }),
    );
    expect(chat.error).toBeUndefined();
    expect(await resultsOf(agent)).toEqual(['{"paid":5}', "Oslo"]);
  });
});

/** The results of the session's tool calls, in the order of the calls. */
async function resultsOf(agent: ReActAgent): Promise<unknown[]> {
  const { context = [] } = (await agent.getAgentState("alice", "trip")) ?? {};
  const calls = context.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "tool_call" ? block.id : [])),
  );
  const results = context.flatMap(toolResultsOf);
  return calls.map((id) =>
    outputText(results.find(({ toolCallId }) => toolCallId === id)?.output ?? []),
  );
}

test("a page loaded while an approved tool runs, and words wait, goes on with the same message", async () => {
  let finish: (() => void) | undefined;
  const slow = tool({
    ...pay,
    execute: () =>
      new Promise<string>((resolve) => {
        finish = () => resolve("paid");
      }),
  });
  const model = scriptedModel([{ toolCalls: [{ name: "pay", input: { cents: 5 } }] }, "Done."]);
  const agent = servedAgent(model, { tools: [slow], persistence: "step" });
  const url = await serve(chatHandler({ agent, identify }));
  const headers = { authorization: "alice", "content-type": "application/json" };
  const history = async () => {
    const response = await fetch(`${url}/api/chat/trip/messages`, { headers });
    return (await response.json()) as UiMessage[];
  };
  const first = openChat(url);
  await first.sendMessage({ text: "Pay." });
  const { id } = first.messages.at(-1) as UiMessage;
  const [{ toolCallId = "" } = {}] = await agent.pending("alice", "trip");
  const approvals = { [toolCallId]: { approve: true } };
  const answered = first.sendMessage(undefined, { body: { approvals } });
  await eventually(() => finish);
  const body = JSON.stringify({ text: "Hurry." });
  await fetch(`${url}/api/chat/trip/steer`, { method: "POST", headers, body });
  const messages = await history();
  expect(messages.map(({ role }) => role)).toEqual(["user", "user"]);
  const second = openChat(url, { messages });
  const watched = second.resumeStream();
  await eventually(() => expect(second.messages.at(-1)?.id).toBe(id));
  finish?.();
  await Promise.all([answered, watched]);
  const all = await history();
  expect(all.map(({ role }) => role)).toEqual(["user", "assistant"]);
  const steps = ["step-start", "dynamic-tool", "data-steered", "step-start", "text"];
  for (const message of [all.at(-1), first.messages.at(-1), second.messages.at(-1)]) {
    expect(message?.id).toBe(id);
    expect(message?.parts.map(({ type }) => type)).toEqual(steps);
    expect(message?.parts[1]).toMatchObject({ state: "output-available", output: "paid" });
  }
});

describe("an answer that fails", () => {
  test("leaves the page with what waits, so that it can be given again", async () => {
    const stateStore = new InMemoryAgentStateStore();
    const model = scriptedModel([{ toolCalls: [{ name: "pay", input: { cents: 5 } }] }, "Done."]);
    const agent = servedAgent(model, { stateStore });
    const chat = openChat(await serve(chatHandler({ agent, identify })));
    await chat.sendMessage({ text: "Go." });
    const waiting = chat.messages.at(-1)?.metadata?.pending ?? [];
    expect(waiting).toHaveLength(1);
    stateStore.save = () => Promise.reject(new Error("away"));
    const approvals = { [waiting[0]?.toolCallId ?? ""]: { approve: true } };
    await chat.sendMessage(undefined, { body: { approvals } });
    expect(await agent.pending("alice", "trip")).toEqual(waiting);
    expect(chat.messages.at(-1)?.metadata).toMatchObject({ status: "error", pending: waiting });
  });

  test("because another page was first does not show what waits no more", async () => {
    const agent = mixedAgent();
    const handler = chatHandler({ agent, identify });
    await agent.call("Go.", { userId: "alice", sessionId: "trip" });
    const [{ toolCallId = "" } = {}] = await agent.pending("alice", "trip");
    const headers = { authorization: "alice", "content-type": "application/json" };
    const answer = async (approve: boolean): Promise<ChatMetadata> => {
      const body = JSON.stringify({ id: "trip", approvals: { [toolCallId]: { approve } } });
      const url = "http://localhost/api/chat";
      const response = await handler(new Request(url, { method: "POST", headers, body }));
      const [, metadata = ""] = /"messageMetadata":(.*)\}$/m.exec(await response.text()) ?? [];
      return JSON.parse(metadata);
    };
    expect(await Promise.all([answer(true), answer(false)])).toMatchObject([
      { status: "complete", pending: [] },
      { status: "error", pending: [] },
    ]);
  });
});
