import {
  CallIdReusedError,
  InMemoryAgentStateStore,
  ReActAgent,
  type ReActAgentOptions,
  tool,
  userMessage,
} from "@holdfast/core";
import type { InboxEntry } from "@holdfast/core/store-kit";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { outline, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { stallingModel } from "./models.js";

const once = { sessionId: "s", callId: "once" };

class HeadOnly extends InMemoryAgentStateStore {
  override readonly keepsCallRecords = false as unknown as true;
}

describe.each([true, false])("a repeated callId, fused: %s", (fused) => {
  const newStore = () => new InMemoryAgentStateStore({ fused });
  const numbered = () => scriptedModel((_, index) => `answer ${index}`);
  const agentOn = (stateStore: InMemoryAgentStateStore, options: Partial<ReActAgentOptions> = {}) =>
    new ReActAgent({ name: "a", model: numbered(), stateStore, ...options });

  test("is answered with the same reply, without a second turn", async () => {
    const model = numbered();
    const agent = agentOn(newStore(), { model });
    const reply = await agent.call("hello", once);
    const again = await agent.call("hello", once);
    expect(again).toEqual(reply);
    expect(again.callId).toBe("once");
    expect(model.requests).toHaveLength(1);
    expect(outline(await agent.getAgentState(null, "s"))).toHaveLength(2);
  });

  test("made twice at the same moment runs once", async () => {
    const model = numbered();
    const agent = agentOn(newStore(), { model });
    const replies = await Promise.all([agent.call("hello", once), agent.call("hello", once)]);
    expect(replies[1]).toEqual(replies[0]);
    expect(model.requests).toHaveLength(1);
  });

  test("is known to every agent over the store, and only in its own session", async () => {
    const store = newStore();
    const reply = await agentOn(store).call("hello", once);
    const model = numbered();
    const other = agentOn(store, { model });
    expect(await other.call("hello", once)).toEqual(reply);
    expect(model.requests).toHaveLength(0);
    await other.call("hello", { ...once, sessionId: "t" });
    await other.call("hello", { ...once, userId: "u" });
    expect(model.requests).toHaveLength(2);
  });

  test.each([
    ["short", "brief"],
    ["long enough to be kept apart from its record", "long ".repeat(20_000)],
  ])("is answered from the log when the reply has left the context: %s", async (_, text) => {
    const store = newStore();
    const model = scriptedModel([text]);
    const agent = agentOn(store, { model });
    const reply = await agent.call("hello", once);
    await agent.updateAgentState(null, "s", (state) => {
      state.contextMutable().replaceAll([]);
      for (let n = 0; n < 1_500; n++) state.contextMutable().push(userMessage(`later ${n}`));
    });
    const again = await agentOn(store, { model }).call("hello", once);
    expect(again.text.length).toBe(text.length);
    expect(again.text === text).toBe(true);
    expect(again.message).toEqual(reply.message);
    expect(model.requests).toHaveLength(1);
  });

  test.each([
    ["100 calls", newStore(), {}, 100],
    ["rememberCalls.max", newStore(), { rememberCalls: { max: 3 } }, 3],
    ["16 calls, by a store that keeps no records beside the head", new HeadOnly({ fused }), {}, 16],
  ] as const)("is remembered among the last named ones, and no longer: %s", async (...row) => {
    const [, store, options, kept] = row;
    const model = numbered();
    const agent = agentOn(store, { model, ...options });
    await agent.call("hello", once);
    for (let n = 1; n < kept; n++) await agent.call("x", { sessionId: "s", callId: `other ${n}` });
    await agent.call("calls without a name do not count", { sessionId: "s" });
    expect((await agent.call("hello", once)).text).toBe("answer 0");
    await agent.call("x", { sessionId: "s", callId: "one too many" });
    expect((await agent.call("hello", once)).text).toBe(`answer ${kept + 2}`);
  });

  test("of a structured reply returns its output", async () => {
    const store = newStore();
    const output = z.object({ city: z.string() });
    const model = scriptedModel(['{"city":"Oslo"}'], { structuredOutput: true });
    const reply = await agentOn(store, { model }).call("where?", { ...once, output });
    expect(reply).toMatchObject({ reason: "structured_output", output: { city: "Oslo" } });
    const again = await agentOn(store, { model }).call("where?", { ...once, output });
    expect(again).toEqual(reply);
    expect(model.requests).toHaveLength(1);
  });

  test("of a reply that waits for a person returns what it waits for", async () => {
    const store = newStore();
    const outside = tool({ name: "outside", description: "Runs outside.", input: z.object({}) });
    const model = scriptedModel([{ toolCalls: [{ name: "outside", input: { a: 1 } }] }]);
    const reply = await agentOn(store, { model, tools: [outside] }).call("go", once);
    expect(reply.reason).toBe("tool_suspended");
    const again = await agentOn(store, { model, tools: [outside] }).call("go", once);
    expect(again).toEqual(reply);
    expect(model.requests).toHaveLength(1);
  });

  test("of an interrupted call returns what it had said", async () => {
    const store = newStore();
    const reached = door();
    const agent = agentOn(store, { model: stallingModel("half", reached.open) });
    const running = agent.call("hello", once);
    await reached.opened;
    await agent.interrupt(null, "s");
    const reply = await running;
    const model = numbered();
    const again = await agentOn(store, { model }).call("hello", once);
    expect(again).toMatchObject({ reason: "interrupted", text: "half" });
    expect(again.message).toEqual(reply.message);
    expect(model.requests).toHaveLength(0);
  });

  test("of a failed call is remembered when it also took in what a named call that died had said", async () => {
    const store = newStore();
    const model = scriptedModel([{ error: new Error("no model") }, "now", "again"]);
    const agent = agentOn(store, { model });
    await expect(agent.call("hello", once)).rejects.toThrow("no model");
    const message = JSON.parse(JSON.stringify(userMessage("dying words")));
    const input = { kind: "messages", messages: [message], foreignIds: false };
    await store.inbox?.put(slotOf(), {
      id: "01890000-0000-7000-8000-000000000000",
      kind: "input",
      callId: "dead",
      at: new Date().toISOString(),
      body: { input, hash: "of the dying words" },
    });
    expect((await agent.call("hello", once)).text).toBe("now");
    expect((await agentOn(store, { model }).call("hello", once)).text).toBe("now");
    expect(model.requests).toHaveLength(2);
    const dying = agentOn(store).call("other words", { ...once, callId: "dead" });
    await expect(dying).rejects.toSatisfy(CallIdReusedError.is);
  });

  /** What a process that dies leaves of the call in the inbox, under the id of its own run. */
  async function wordsOfDead(id: number, text = "hello") {
    const store = new InMemoryAgentStateStore();
    const reading = scriptedModel(async () => {
      [entry] = await store.inbox.read(slotOf());
      return "done";
    });
    let entry: InboxEntry | undefined;
    await agentOn(store, { model: reading }).call(text, once);
    if (!entry) throw new Error("the inbox did not have the input");
    return { ...entry, id: `01890000-0000-7000-8000-00000000000${id}` };
  }

  test.each([
    ["once more", "hello", once, ["user: hello"]],
    ["by another call", "next", { sessionId: "s" }, ["user: hello", "user: next"]],
  ])(
    "of a failed call, whose words come into the inbox late, has them said once, found %s",
    async (_, text, ctx, expected) => {
      const store = newStore();
      const model = scriptedModel([{ error: new Error("no model") }, "now"]);
      const agent = agentOn(store, { model });
      await expect(agent.call("hello", once)).rejects.toThrow("no model");
      await store.inbox?.put(slotOf(), await wordsOfDead(1));
      expect((await agent.call(text, ctx)).text).toBe("now");
      expect(outline(model.requests[1]?.messages)).toEqual(expected);
      expect(await store.inbox?.read(slotOf())).toEqual([]);
    },
  );

  test("of an answered call has its words said once, and none that came under its id later", async () => {
    const store = newStore();
    const agent = agentOn(store, { model: scriptedModel(["a1", "a2"]) });
    await agent.call("hello", once);
    await store.inbox?.put(slotOf(), await wordsOfDead(1, "other words"));
    await store.inbox?.put(slotOf(), await wordsOfDead(2));
    const said = ["user: hello", "assistant: a1"];
    const context = async () => outline(await agent.getAgentState(null, "s"));
    // Nor does a reader see them meanwhile.
    expect(await context()).toEqual(said);
    expect((await agent.call("hello", once)).text).toBe("a1");
    expect(await context()).toEqual(said);
    await agent.call("next", { sessionId: "s" });
    expect(await context()).toEqual([...said, "user: next", "assistant: a2"]);
    expect(await store.inbox?.read(slotOf())).toEqual([]);
  });

  test("of an answered call is not what a session is resumed with", async () => {
    const store = newStore();
    const model = scriptedModel(["a1", { error: new Error("no model") }, "a2"]);
    const agent = agentOn(store, { model });
    await agent.call("hello", once);
    await expect(agent.call("next", { sessionId: "s" })).rejects.toThrow("no model");
    await store.inbox?.put(slotOf(), await wordsOfDead(1, "other words"));
    await store.inbox?.put(slotOf(), await wordsOfDead(2));
    expect((await agent.resume(null, "s"))?.text).toBe("a2");
    expect(await agent.resume(null, "s")).toBeNull();
  });

  test("whose words wait twice shows them to readers once", async () => {
    const store = newStore();
    for (const id of [1, 2]) await store.inbox?.put(slotOf(), await wordsOfDead(id));
    const agent = agentOn(store);
    expect(outline(await agent.getAgentState(null, "s"))).toEqual(["user: hello"]);
  });

  test("of which two processes died has its words said once", async () => {
    const store = newStore();
    for (const id of [1, 2]) await store.inbox?.put(slotOf(), await wordsOfDead(id));
    const model = numbered();
    await agentOn(store, { model }).call("hello", once);
    expect(outline(model.requests[0]?.messages)).toEqual(["user: hello"]);
  });

  test("of a failed call tries again, with the input said once", async () => {
    const model = scriptedModel([{ error: new Error("no model") }, "now"]);
    const agent = agentOn(newStore(), { model });
    await expect(agent.call("hello", once)).rejects.toThrow("no model");
    expect((await agent.call("hello", once)).text).toBe("now");
    expect(outline(model.requests[1]?.messages)).toEqual(["user: hello"]);
    expect((await agent.call("hello", once)).text).toBe("now");
    expect(model.requests).toHaveLength(2);
  });
});
