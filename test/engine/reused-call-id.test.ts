import {
  type AgentReply,
  type AgentStateStore,
  CallIdReusedError,
  type CallInput,
  definePlugin,
  listGuard,
  type ReActAgentOptions,
  tool,
  userMessage,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentOn } from "./agent-on.js";
import { logRecords, outline, slotOf } from "./conversation.js";
import { keptStores, newStore } from "./kept-stores.js";

const once = { sessionId: "s", callId: "once" };

/** Everything a store keeps of the session. */
async function kept(store: AgentStateStore) {
  const loaded = await store.load(slotOf());
  if (loaded === "unchanged") throw new Error("no revision was given");
  return {
    revision: loaded?.revision,
    inbox: await store.inbox?.read(slotOf()),
    log: await logRecords(store, slotOf()),
  };
}

function openCall(reply: AgentReply): string {
  const [call] = "pending" in reply ? reply.pending : [];
  if (!call) throw new Error("no tool call waits");
  return call.toolCallId;
}

async function expectRefused(
  store: AgentStateStore,
  input: CallInput,
  options: Partial<ReActAgentOptions> = {},
): Promise<void> {
  const before = await kept(store);
  const model = scriptedModel([]);
  const agent = agentOn(store, { ...options, model });
  const error = await agent.call(input, once).catch((reason) => reason);
  expect(CallIdReusedError.is(error)).toBe(true);
  expect(error).toMatchObject({ code: "CALL_ID_REUSED" });
  expect(model.requests).toEqual([]);
  expect(before.inbox).toEqual([]);
  expect(await kept(store)).toEqual(before);
}

describe.each(keptStores)("on %s: a callId with another input", (kind) => {
  test("is refused after the first call was answered, and nothing has changed", async () => {
    const store = await newStore(kind);
    const agent = agentOn(store);
    const reply = await agent.call("pay Bob", once);
    await expectRefused(store, "pay Alice");
    expect((await agent.call("pay Bob", once)).message).toEqual(reply.message);
  });

  test("is refused after the first call failed, which can still be repeated", async () => {
    const store = await newStore(kind);
    const failing = agentOn(store, { model: scriptedModel([{ error: new Error("no model") }]) });
    await expect(failing.call("pay Bob", once)).rejects.toThrow("no model");
    await expectRefused(store, "pay Alice");
    const model = scriptedModel(["paid"]);
    const agent = agentOn(store, { model });
    await agent.call("pay Bob", once);
    expect(outline(model.requests[0]?.messages)).toEqual(["user: pay Bob"]);
    expect(outline(await agent.getAgentState(null, "s"))).toEqual([
      "user: pay Bob",
      "assistant: paid",
    ]);
  });

  test("is not refused when only ids and times of its messages differ", async () => {
    const store = await newStore(kind);
    const model = scriptedModel(["paid"]);
    const agent = agentOn(store, { model });
    const reply = await agent.call("pay Bob", once);
    const retyped = userMessage("pay Bob", { id: "mine", createdAt: new Date(0) });
    for (const again of [retyped, [retyped]])
      expect((await agent.call(again, once)).message).toEqual(reply.message);
    expect(model.requests).toHaveLength(1);
    await expectRefused(store, userMessage("pay Alice"));
    await expectRefused(store, [retyped, retyped]);
  });

  test("is refused for a { confirm } that decides otherwise", async () => {
    const store = await newStore(kind);
    const sent: string[] = [];
    const send = tool({
      name: "send",
      description: "Sends.",
      input: z.object({}),
      execute: () => sent.push("send"),
    });
    const guard = definePlugin({
      name: "guard",
      contract: 1,
      setup: (host) => host.provide("toolGuard", listGuard({ ask: ["send"] })),
    });
    const options = { tools: [send], plugins: [guard] };
    const asking = scriptedModel([{ toolCalls: [{ name: "send", input: {} }] }]);
    const toolCallId = openCall(
      await agentOn(store, { ...options, model: asking }).call("send it", { sessionId: "s" }),
    );
    const agent = agentOn(store, { ...options, model: scriptedModel(["not sent"]) });
    const denial = { confirm: [{ toolCallId, approve: false }] };
    const reply = await agent.call(denial, once);
    await expectRefused(store, { confirm: [{ toolCallId, approve: true }] }, options);
    await expectRefused(store, "pay Alice", options);
    expect((await agent.call(denial, once)).message).toEqual(reply.message);
    expect(sent).toEqual([]);
  });

  test("is refused for { results } that say something else", async () => {
    const store = await newStore(kind);
    const outside = tool({ name: "outside", description: "Runs outside.", input: z.object({}) });
    const options = { tools: [outside] };
    const asking = scriptedModel([{ toolCalls: [{ name: "outside", input: {} }] }]);
    const toolCallId = openCall(
      await agentOn(store, { ...options, model: asking }).call("go", { sessionId: "s" }),
    );
    const model = scriptedModel([{ error: new Error("no model") }, "fine"]);
    const agent = agentOn(store, { ...options, model });
    const results = { results: [{ toolCallId, output: "one" }] };
    await expect(agent.call(results, once)).rejects.toThrow("no model");
    await expectRefused(store, { results: [{ toolCallId, output: "two" }] }, options);
    const reply = await agent.call(results, once);
    expect(reply.text).toBe("fine");
    await expectRefused(store, { results: [{ toolCallId, output: "two" }] }, options);
    expect(outline(await agent.getAgentState(null, "s"))).toEqual([
      "user: go",
      "assistant: call outside",
      "tool: success one",
      "assistant: fine",
    ]);
  });
});

describe.each(keptStores)("on %s: a call that was answered", (kind) => {
  test("streams its reply again when it is repeated", async () => {
    const store = await newStore(kind);
    const said = "the first answer";
    await agentOn(store, { model: scriptedModel([said]) }).call("hello", once);
    const run = agentOn(store, { model: scriptedModel([]) }).stream("hello", once);
    let text = "";
    for await (const event of run) if (event.type === "text_delta") text += event.text;
    expect(text).toBe(said);
    expect((await run.result).text).toBe(said);
  });

  test("is remembered among the last `rememberCalls.max` ones", async () => {
    const store = await newStore(kind);
    const model = scriptedModel((_, index) => `answer ${index}`);
    const agent = agentOn(store, { model, rememberCalls: { max: 3 } });
    const call = async (n: number) =>
      (await agent.call(`question ${n}`, { sessionId: "s", callId: `call-${n}` })).text;
    for (let n = 0; n < 5; n++) expect(await call(n)).toBe(`answer ${n}`);
    for (const n of [4, 3, 2]) expect(await call(n)).toBe(`answer ${n}`);
    expect(model.requests).toHaveLength(5);
    // Forgotten: the same words are a new question.
    expect(await call(1)).toBe("answer 5");
    const forgetful = agentOn(store, { model, rememberCalls: { max: 0 } });
    await forgetful.call("nobody keeps this", once);
    await forgetful.call("nobody keeps this", once);
    expect(model.requests).toHaveLength(8);
  });

  test("is remembered for `rememberCalls.forMs`", async () => {
    const store = await newStore(kind);
    let now = Date.parse("2026-01-01T00:00:00Z");
    const model = scriptedModel((_, index) => `answer ${index}`);
    const clock = () => new Date(now);
    const agent = agentOn(store, { model, clock, rememberCalls: { forMs: 60_000 } });
    await agent.call("hello", once);
    now += 60_000;
    expect((await agent.call("hello", once)).text).toBe("answer 0");
    now += 1;
    expect((await agent.call("hello", once)).text).toBe("answer 1");
    // Another input is no mistake either, once the first is forgotten.
    now += 60_001;
    expect((await agent.call("hello again", once)).text).toBe("answer 2");
  });
});
