import { definePlugin, ModelError, type Plugin, tool } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { TelemetryLab } from "./telemetry-lab.js";

const word = fc
  .array(fc.constantFrom(..."abcdefghijklmnop0123456789"), { minLength: 16, maxLength: 24 })
  .map((characters) => characters.join(""));

/** Where contents can be in a call. */
const secrets = fc.record({
  user: word,
  userId: word,
  system: word,
  thinking: word,
  reply: word,
  toolInput: word,
  toolOutput: word,
  toolError: word,
  inventedTool: word,
  modelError: word,
  hint: word,
  callFailure: word,
});

test("no contents and no user id appear in any span or metric, however the call ends", async () => {
  await fc.assert(
    fc.asyncProperty(secrets, fc.constantFrom("reply", "fail", "throw"), async (secret, ending) => {
      const lab = new TelemetryLab();
      const agent = lab.agent({
        systemPrompt: secret.system,
        model: scriptedModel([
          { error: new ModelError(secret.modelError, { retryable: true }) },
          {
            thinking: secret.thinking,
            text: secret.reply,
            toolCalls: [
              { name: "note", input: { text: secret.toolInput }, id: "c1" },
              { name: "burn", input: { text: secret.toolInput }, id: "c2" },
              { name: secret.inventedTool, input: secret.toolInput, id: "c3" },
              { name: "note", input: [secret.toolInput], id: "c4" },
            ],
          },
          ending === "fail" ? { error: new Error(secret.callFailure) } : secret.reply,
        ]),
        tools: [noteTool(secret.toolOutput), noteTool(new Error(secret.toolError), "burn")],
        plugins: [hinting(secret.hint, ending === "throw" ? secret.callFailure : undefined)],
      });
      const ctx = { sessionId: "s", userId: secret.userId };
      const called = await agent.call(secret.user, ctx).then(
        () => "reply",
        () => "failure",
      );
      expect(called).toBe(ending === "reply" ? "reply" : "failure");
      const exported = await lab.exported();
      expect(exported).toContain("execute_tool note");
      for (const [place, text] of Object.entries(secret))
        expect(exported.includes(text), place).toBe(false);
    }),
    { numRuns: process.env["HOLDFAST_LONG"] === "1" ? 300 : 30 },
  );
});

test("a user id is recorded when asked for, a session id unless asked not to", async () => {
  const lab = new TelemetryLab();
  const agent = (recordIds: { user?: boolean; session?: boolean }) =>
    lab.agent({ model: scriptedModel(["Hi."]) }, { recordIds });
  await agent({ user: true }).call("Hi", { sessionId: "s-1", userId: "alice" });
  for (const span of lab.spans)
    expect(span.attributes).toMatchObject({ "user.id": "alice", "gen_ai.conversation.id": "s-1" });
  const before = lab.spans.length;
  await agent({ session: false }).call("Hi", { sessionId: "s-2", userId: "bob", callId: "c-2" });
  const later = JSON.stringify(lab.spans.slice(before).map(({ attributes }) => attributes));
  expect(lab.spans.length).toBe(2 * before);
  for (const id of ["s-2", "bob", "c-2"]) expect(later).not.toContain(id);
});

function noteTool(result: string | Error, name = "note") {
  return tool({
    name,
    description: "Notes.",
    input: z.object({ text: z.string() }),
    execute: () => {
      if (result instanceof Error) throw result;
      return result;
    },
  });
}

function hinting(hint: string, failure: string | undefined): Plugin {
  return definePlugin({
    name: "hinting",
    contract: 1,
    setup: (host) =>
      host.use({
        name: "hinting",
        onReasoning: (step, next) => {
          step.hint(hint, "test");
          if (step.iteration > 0 && failure !== undefined) throw new RangeError(failure);
          return next();
        },
      }),
  });
}
