import { RuntimeContext } from "@holdfast/core";
import { callSlot } from "@holdfast/core/plugin-kit";
import { expect, test } from "vitest";

test("names the session of the call", () => {
  const ctx = RuntimeContext.of({ userId: "ada", sessionId: "one" });
  expect(callSlot("agent", ctx)).toEqual({ agentId: "agent", userId: "ada", sessionId: "one" });
});

test("refuses a context without a session", () => {
  expect(() => callSlot("agent", RuntimeContext.of({ userId: "ada" }))).toThrow(
    expect.objectContaining({ code: "INVALID_ID" }),
  );
});
