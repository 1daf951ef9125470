import {
  type AgentStateStore,
  InProcessSessionGate,
  type Model,
  type ReActAgent,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agentOn } from "./agent-on.js";
import { keptInLog, outline, slotOf } from "./conversation.js";
import { door } from "./door.js";
import { keptStores, newStore } from "./kept-stores.js";
import { modelOf, stallingModel } from "./models.js";

const ctx = { sessionId: "s" };

/** Says half a sentence, and then nothing until it is told to stop. */
function speaking(reached: () => void): Model {
  return modelOf(async function* ({ signal }) {
    yield { type: "text_delta", text: "half a" };
    reached();
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
}

/** Calls that come to no reply, and not because their caller gave them up. */
const endings: Readonly<
  Record<string, (store: AgentStateStore, callId: string | undefined) => Promise<void>>
> = {
  async "whose model failed"(store, callId) {
    const agent = agentOn(store, { model: scriptedModel([{ error: new Error("no model") }]) });
    await expect(agent.call("question", { ...ctx, callId })).rejects.toThrow("no model");
  },
  async "that a shutdown cut"(store, callId) {
    const reached = door();
    const agent = agentOn(store, { model: speaking(reached.open) });
    const running = agent.call("question", { ...ctx, callId });
    await reached.opened;
    await agent.shutdown({ timeoutMs: 0 });
    expect((await running).reason).toBe("shutdown");
  },
  async "whose process died"(store, callId) {
    const reached = door();
    const gate = new InProcessSessionGate();
    const agent = agentOn(store, { model: stallingModel("", reached.open), gate });
    agent.call("question", { ...ctx, callId }).catch(() => undefined);
    await reached.opened;
  },
};

async function unfinished(agent: ReActAgent): Promise<readonly string[]> {
  const { slots } = await agent.sessions({ unfinished: true });
  return slots.map(({ slot }) => slot.sessionId);
}

describe.each(keptStores)("on %s: resume", (kind) => {
  test.each(
    Object.keys(endings).flatMap((name) => [undefined, "mine"].map((callId) => [name, callId])),
  )(
    "answers a call %s, with callId %s, without its input; two at once answer once",
    async (name = "", callId) => {
      const store = await newStore(kind);
      await agentOn(store).call("elsewhere", { sessionId: "finished" });
      await endings[name]?.(store, callId);
      const model = scriptedModel(["the answer"]);
      const agent = agentOn(store, { model });
      expect(await unfinished(agent)).toEqual(["s"]);
      const replies = await Promise.all([agent.resume(null, "s"), agent.resume(ctx, { callId })]);
      // The second of the two finds it done, and has the same answer when it knows the call.
      for (const reply of replies) expect([undefined, "the answer"]).toContain(reply?.text);
      expect(replies.some((reply) => reply?.text === "the answer")).toBe(true);
      expect(model.requests).toHaveLength(1);
      expect(outline(model.requests[0]?.messages)[0]).toBe("user: question");
      const said = outline(await agent.getAgentState(null, "s"));
      expect(said.filter((line) => line === "user: question")).toHaveLength(1);
      expect(said.at(-1)).toBe("assistant: the answer");
      expect((await keptInLog(store, slotOf())).sort()).toEqual([...said].sort());
      expect(await unfinished(agent)).toEqual([]);
      expect(await agent.resume(null, "s")).toBeNull();
      if (callId === undefined) return;
      expect((await agent.call("question", { ...ctx, callId })).text).toBe("the answer");
      expect((await agent.resume(null, "s", { callId }))?.text).toBe("the answer");
      expect(model.requests).toHaveLength(1);
    },
  );

  test("answers null where there is nothing to go on with", async () => {
    const store = await newStore(kind);
    const model = scriptedModel(["fine"]);
    const agent = agentOn(store, { model });
    expect(await agent.resume(null, "s")).toBeNull();
    expect(await agent.resume(null, "s", { callId: "unknown" })).toBeNull();
    expect(await agent.getAgentState(null, "s")).toBeNull();
    await agent.call("question", ctx);
    expect(await agent.resume(null, "s")).toBeNull();
    expect(await agent.resume(null, "s", { callId: "unknown" })).toBeNull();
    expect(await unfinished(agent)).toEqual([]);
    expect(model.requests).toHaveLength(1);
  });

  test("leaves a call alone that its caller gave up", async () => {
    const store = await newStore(kind);
    const [reached, abort] = [door(), new AbortController()];
    const agent = agentOn(store, { model: speaking(reached.open) });
    const running = agent.call("question", { ...ctx, signal: abort.signal });
    await reached.opened;
    abort.abort();
    await running.catch(() => undefined);
    const model = scriptedModel([]);
    expect(await agentOn(store, { model }).resume(null, "s")).toBeNull();
    expect(await unfinished(agent)).toEqual([]);
  });

  test("by callId reaches a call that others came after", async () => {
    const store = await newStore(kind);
    await endings["whose model failed"]?.(store, "mine");
    const model = scriptedModel((_, index) => `answer ${index}`);
    const agent = agentOn(store, { model });
    await agent.call("another question", ctx);
    expect(await agent.resume(null, "s")).toBeNull();
    expect((await agent.resume(null, "s", { callId: "mine" }))?.text).toBe("answer 1");
    expect(outline(model.requests[1]?.messages)).toEqual([
      "user: another question",
      "assistant: answer 0",
      "user: question",
    ]);
  });
});
