import {
  type AgentEvent,
  type Message,
  ReActAgent,
  type ReActAgentOptions,
  textOf,
  tool,
  type Usage,
} from "@holdfast/core";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { type BudgetOptions, budget } from "../../src/index.js";

/** Usage of each request: 11 tokens. */
export const usage: Usage = { inputTokens: 10, outputTokens: 1 };
/** Session of the tests that need only one. */
export const alice = { userId: "alice", sessionId: "s" };

const step = tool({
  name: "step",
  description: "Does one step.",
  input: z.looseObject({}),
  execute: () => "done",
});

/** Reply of 11 tokens that goes on, so that the call needs another request. */
export const goOn: ScriptedReply = { usage, toolCalls: [{ name: "step", input: {} }] };

/** Agent whose requests cost 11 tokens each, or what a message "cost 20" says; `replies` first, then "Yes." */
export function agentWith(
  options: BudgetOptions,
  replies: readonly ScriptedReply[] = [],
  more: Partial<ReActAgentOptions> = {},
) {
  const script = [...replies];
  const model = scriptedModel(
    ({ messages }) => script.shift() ?? { usage: usageOf(messages.at(-1)), text: "Yes." },
  );
  const events: AgentEvent[] = [];
  const agent = new ReActAgent({
    ...{ name: "guide", model, tools: [step], plugins: [budget(options)] },
    modelRetry: { baseDelayMs: 0, maxDelayMs: 0 },
    onEvent: (event) => void events.push(event),
    ...more,
  });
  onTestFinished(() => agent.close());
  const ofType = <T extends AgentEvent["type"]>(type: T) =>
    events.filter((event): event is Extract<AgentEvent, { type: T }> => event.type === type);
  const say = (text = "Go", session: { userId: string | null; sessionId: string } = alice) =>
    agent.call(text, session);
  return { agent, model, say, ofType };
}

function usageOf(message: Message | undefined): Usage {
  const [, cost] = (message ? textOf(message) : "").match(/^cost (\d+)$/) ?? [];
  return cost === undefined ? usage : { inputTokens: Number(cost), outputTokens: 0 };
}
