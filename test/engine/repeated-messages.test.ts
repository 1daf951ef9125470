import { type Compactor, definePlugin, StateConflictError, userMessage } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agentOn } from "./agent-on.js";
import { keptInLog, outline, slotOf } from "./conversation.js";
import { FaultyStore } from "./faulty-store.js";
import { slowAgent, agentOn as strangerOn } from "./overlapping-calls.js";
import { unfinishedTurn } from "./unfinished-turn.js";

const ctx = { sessionId: "s" };

/** Takes everything but the last message out of the context. */
const forgetting: Compactor = {
  proactive: true,
  async compact({ state, dropping }) {
    const messagesBefore = state.context.length;
    await dropping(state.context.slice(0, -1));
    state.contextMutable().replaceAll(state.context.slice(-1));
    return { compacted: true, messagesBefore, messagesAfter: 1 };
  },
};
const withCompactor = definePlugin({
  name: "forgetting",
  contract: 1,
  setup: (host) => host.provide("compactor", forgetting),
});

describe.each([true, false])("a message that is sent again, fused: %s", (fused) => {
  test("after a conflict is in the log once, where it was heard, and answered at the end of the context", async () => {
    const store = new FaultyStore({ fused });
    const message = userMessage("hello");
    const slow = slowAgent(store);
    const running = slow.agent.call(message, { ...ctx, callId: "mine" });
    await slow.reached.opened;
    await strangerOn(store).call("other", ctx);
    slow.release.open();
    await expect(running).rejects.toSatisfy(StateConflictError.is);
    const model = scriptedModel(["at last"]);
    const stranger = strangerOn(store, { model });
    await stranger.call(message, { ...ctx, callId: "mine" });
    expect(await keptInLog(store, slotOf())).toEqual([
      "user: hello",
      "user: other",
      "assistant: ok",
      "assistant: at last",
    ]);
    const asked = ["user: other", "assistant: ok", "user: hello"];
    expect(outline(model.requests[0]?.messages)).toEqual(asked);
    expect(outline(await stranger.getAgentState(null, "s"))).toEqual([
      ...asked,
      "assistant: at last",
    ]);
  });

  test("after a rollback is in the log as part of the call that stands", async () => {
    const store = new FaultyStore({ fused });
    const message = userMessage("hello");
    const { agent, reached } = unfinishedTurn(store);
    const running = agent.call(message, ctx);
    await reached.opened;
    await agentOn(store).call(message, { ...ctx, onBusy: "rollback" });
    await running;
    expect(await keptInLog(store, slotOf())).toEqual(["user: hello", "assistant: ok"]);
  });

  test("after it has left the context is in the log twice", async () => {
    const store = new FaultyStore({ fused });
    const agent = agentOn(store, { plugins: [withCompactor], model: scriptedModel(() => "ok") });
    const message = userMessage("hello");
    await agent.call(message, ctx);
    await agent.call("between", ctx);
    await agent.call({ ...message, content: [{ type: "text", text: "something else" }] }, ctx);
    expect((await keptInLog(store, slotOf())).filter((line) => line.startsWith("user"))).toEqual([
      "user: hello",
      "user: between",
      "user: something else",
    ]);
  });
});
