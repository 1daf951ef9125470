import {
  definePlugin,
  InMemoryAgentStateStore,
  listGuard,
  ReActAgent,
  type ToolCallContext,
  tool,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { door } from "./door.js";

/** A tool that notes its contexts. */
function noting(seen: ToolCallContext[], more: { work?: () => Promise<unknown> } = {}) {
  return tool({
    name: "pay",
    description: "Pays.",
    input: z.object({}),
    async execute(_, ctx) {
      seen.push(ctx);
      await more.work?.();
      return "paid";
    },
  });
}
const paying = { toolCalls: [{ name: "pay", input: {} }] };

test("a tool knows its session, its agent and its call", async () => {
  const seen: ToolCallContext[] = [];
  const agent = new ReActAgent({
    name: "clerk",
    agentId: "a-1",
    model: scriptedModel([{ toolCalls: [...paying.toolCalls, ...paying.toolCalls] }, "done"]),
    tools: [noting(seen)],
    // What the session is called outside, and where it is stored, may differ.
    slot: ({ userId, sessionId = "s" }) => ({ userId: `tenant/${userId}`, sessionId }),
  });
  await agent.call("go", { userId: "ada", extra: { trace: 7 } });
  const state = await agent.getAgentState({ userId: "ada" });
  const ids = Object.values(state?.context ?? []).flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "tool_call" ? block.id : [])),
  );
  expect(seen.map(({ toolCallId }) => toolCallId)).toEqual(ids);
  expect(new Set(ids).size).toBe(2);
  for (const ctx of seen) {
    expect(ctx.slot).toEqual({ agentId: "a-1", userId: "tenant/ada", sessionId: "s" });
    expect(ctx.agentId).toBe("a-1");
    expect(ctx.get("trace")).toBe(7);
    expect(ctx.agentState?.sessionId).toBe("s");
  }
});

test("an approved call has the id that was asked about", async () => {
  const seen: ToolCallContext[] = [];
  const agent = new ReActAgent({
    name: "clerk",
    model: scriptedModel([paying, "done"]),
    tools: [noting(seen)],
    plugins: [
      definePlugin({
        name: "guard",
        contract: 1,
        setup: (host) => host.provide("toolGuard", listGuard({ ask: ["pay"] })),
      }),
    ],
  });
  const reply = await agent.call("go");
  const toolCallId = "pending" in reply ? (reply.pending[0]?.toolCallId ?? "") : "";
  await agent.call({ confirm: [{ toolCallId, approve: true }] });
  expect(seen.map((ctx) => ctx.toolCallId)).toEqual([toolCallId]);
});

test("a call that a shutdown kept from starting runs under its id on another node", async () => {
  const seen: ToolCallContext[] = [];
  const store = new InMemoryAgentStateStore();
  const options = { name: "clerk", stateStore: store, tools: [noting(seen)] };
  const [reached, release] = [door(), door()];
  let asked = "";
  const first = new ReActAgent({
    ...options,
    model: scriptedModel([paying]),
    middleware: [
      {
        name: "slow",
        async onReasoning(_, next) {
          const message = await next();
          const [call] = message.content.filter((block) => block.type === "tool_call");
          asked = call?.id ?? "";
          reached.open();
          await release.opened;
          return message;
        },
      },
    ],
  });
  const cut = first.call("go", { callId: "c-1" });
  await reached.opened;
  const closing = first.shutdown();
  release.open();
  expect((await cut).reason).toBe("shutdown");
  await closing;
  const second = new ReActAgent({ ...options, model: scriptedModel(["done"]) });
  expect((await second.resume({ sessionId: "default" }))?.text).toBe("done");
  expect(seen.map((ctx) => ctx.toolCallId)).toEqual([asked]);
});
