import { expect, test } from "vitest";
import { z } from "zod";
import { ConfigurationError, listGuard, RuntimeContext, tool } from "../../src/index.js";

function check(options: Parameters<typeof listGuard>[0], name: string) {
  return listGuard(options).check({
    call: { type: "tool_call", id: "c", name, input: {} },
    tool: tool({ name, description: "d", input: z.object({}) }),
    input: {},
    slot: { agentId: "a", userId: null, sessionId: "s" },
    ctx: RuntimeContext.empty(),
    remembered: async () => [],
  });
}

test("a tool is denied, asked about or allowed by its name, and a deny wins", () => {
  const options = { deny: ["drop", "both"], ask: ["mail", "both"] };
  expect(check(options, "drop")).toEqual({
    decision: "deny",
    reason: expect.stringContaining('"drop"'),
  });
  expect(check(options, "mail")).toEqual({
    decision: "ask",
    reason: expect.stringContaining('"mail"'),
    suggestions: [{ tool: "mail", text: "Always allow mail", broad: true }],
  });
  expect(check(options, "both")).toMatchObject({ decision: "deny" });
  expect(check(options, "read")).toEqual({ decision: "allow" });
  expect(check({}, "constructor")).toEqual({ decision: "allow" });
});

test("names that are none are refused", () => {
  expect(() => listGuard({ deny: [""] })).toThrow(ConfigurationError);
  expect(() => listGuard({ ask: "mail" as never })).toThrow(ConfigurationError);
  expect(() => listGuard({ denied: ["x"] } as never)).toThrow(ConfigurationError);
});
