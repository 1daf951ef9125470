import { ModelError, textOf } from "@holdfast/core";
import { realErrors, type WireReply } from "@holdfast/provider-rigs";
import { describe, expect, test } from "vitest";
import { ctx, desk } from "./desk.js";
import { providerKits } from "./provider-kits.js";

const errorsOf = {
  openai: realErrors.openAi,
  "openai-compatible": realErrors.openAiChat,
  anthropic: realErrors.anthropic,
  google: realErrors.google,
};

const deltas = ["The ", "answer ", "is 4."];

describe.each(providerKits)("one agent over a failing $name", (kit) => {
  const errors = errorsOf[kit.name as keyof typeof errorsOf];

  test.each<[string, WireReply]>([
    ["overloaded", { error: errors.overloaded }],
    ["cut off in mid-stream", { text: deltas, fault: { afterDeltas: 2, kind: "cut" } }],
    ["failing in mid-stream", { text: deltas, fault: { afterDeltas: 2, kind: "error_event" } }],
    ["failing at once", { text: deltas, fault: { afterDeltas: 0, kind: "error_event" } }],
  ])("asks again when it is %s, and keeps one answer", async (_how, broken) => {
    const { start, hire } = await desk();
    const server = await start(kit, [broken, { text: deltas }]);
    const agent = hire(kit, server);
    expect(await agent.call("2 + 2?", ctx)).toMatchObject({
      reason: "stop",
      text: "The answer is 4.",
    });
    expect(server.requests).toHaveLength(2);
    expect(server.requests[1]?.body).toEqual(server.requests[0]?.body);
    const state = await agent.getAgentState(ctx);
    expect(state?.context.map(textOf)).toEqual(["2 + 2?", "The answer is 4."]);
  });

  test.each([
    ["authentication", "authentication"],
    ["content", "content"],
  ] as const)(
    "gives up at once on an error of %s, and says of what kind it is",
    async (name, kind) => {
      const { start, hire } = await desk();
      const server = await start(kit, [{ error: errors[name] }, { text: "Here again." }]);
      const agent = hire(kit, server);
      const error = await agent.call("Hello?", ctx).catch((reason: unknown) => reason);
      expect(ModelError.is(error)).toBe(true);
      expect(error).toMatchObject({ kind, retryable: false });
      expect(server.requests).toHaveLength(1);
      expect(await agent.call("And now?", ctx)).toMatchObject({ text: "Here again." });
    },
  );
});
