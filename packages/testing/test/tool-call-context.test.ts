import { expect, test } from "vitest";
import { toolCallContext } from "../src/index.js";

test("toolCallContext has everything that a tool's context has", () => {
  const { signal } = new AbortController();
  const ctx = toolCallContext({ userId: "ada", sessionId: "s", signal, extra: { a: 1 } });
  expect(ctx.slot).toEqual({ agentId: "agent", userId: "ada", sessionId: "s" });
  expect([ctx.agentId, ctx.toolCallId, ctx.signal, ctx.get("a")]).toEqual([
    "agent",
    "call-1",
    signal,
    1,
  ]);
  expect(toolCallContext({ agentId: "b", toolCallId: "c" })).toMatchObject({
    slot: { agentId: "b", userId: null, sessionId: "default" },
    toolCallId: "c",
  });
});
