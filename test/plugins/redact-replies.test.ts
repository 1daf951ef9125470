import {
  type AgentEvent,
  type Model,
  type ModelChunk,
  ReActAgent,
  textOf,
  tool,
  toolCallsOf,
} from "@holdfast/core";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { redactReplies } from "./redact-replies.js";

const email = "ada@example.org";
const redact = (text: string): string => text.replaceAll(email, "[e-mail]");
const usage = { inputTokens: 1, outputTokens: 1 };

const first: readonly ModelChunk[] = [
  { type: "thinking_delta", text: "It is ada@exa", block: "1" },
  { type: "text_delta", text: "I write to ada@", block: "a" },
  { type: "thinking_delta", text: "mple.org.", block: "1" },
  { type: "text_delta", text: "example.org", block: "a" },
  { type: "thinking_delta", text: "Short is better.", block: "2" },
  { type: "tool_call_delta", id: "t", name: "send", inputDelta: `{"to":["${email}"]}` },
  { type: "tool_call", id: "t", name: "send", input: { to: [email], times: 1 } },
  { type: "finish", reason: "tool_calls", usage },
];
const second: readonly ModelChunk[] = [
  { type: "text_delta", text: "Sent to ada" },
  { type: "text_delta", text: "@example.org." },
  { type: "finish", reason: "stop", usage },
];

test("what the model writes is redacted, also where a word is in two pieces", async () => {
  const replies = [first, second];
  const model: Model = {
    id: "writer",
    async *stream() {
      yield* replies.shift() ?? [];
    },
  };
  const sent: unknown[] = [];
  const send = tool({
    name: "send",
    description: "Sends.",
    input: z.object({ to: z.array(z.string()), times: z.number() }),
    execute: (input) => {
      sent.push(input);
      return "sent";
    },
  });
  const events: AgentEvent[] = [];
  const agent = new ReActAgent({
    ...{ name: "clerk", model, tools: [send], middleware: [redactReplies(redact)] },
    onEvent: (event) => void events.push(event),
  });
  onTestFinished(() => agent.close());
  const reply = await agent.call("Write to Ada.", { sessionId: "s" });
  const context = (await agent.getAgentState({ sessionId: "s" }))?.context ?? [];

  expect(reply.text).toBe("Sent to [e-mail].");
  expect(sent).toEqual([{ to: ["[e-mail]"], times: 1 }]);
  expect(context.map(textOf)).toContain("I write to [e-mail]");
  expect(context.flatMap(toolCallsOf)).toMatchObject([{ input: { to: ["[e-mail]"], times: 1 } }]);
  expect(JSON.stringify(context)).toContain("Short is better.");
  expect(JSON.stringify([context, events])).not.toMatch(/\bada\b|example\.org|@/);
});
