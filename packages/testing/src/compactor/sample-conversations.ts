import {
  AgentState,
  assistantMessage,
  type Message,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import fc from "fast-check";
import { sampleSlot } from "../conformance/sample-slots.js";

/** One step of a made-up conversation. */
type ConversationStep =
  | { readonly kind: "user"; readonly words: number }
  | { readonly kind: "assistant"; readonly words: number }
  | { readonly kind: "tools"; readonly calls: number; readonly words: number };

/** Conversations of any shape, with every tool call answered and a user's request in them. */
export function conversations(): fc.Arbitrary<Message[]> {
  const words = fc.nat({ max: 200 });
  const step: fc.Arbitrary<ConversationStep> = fc.oneof(
    fc.record({ kind: fc.constant("user" as const), words }),
    fc.record({ kind: fc.constant("assistant" as const), words }),
    fc.record({
      kind: fc.constant("tools" as const),
      calls: fc.integer({ min: 1, max: 4 }),
      words,
    }),
  );
  return fc
    .array(step, { minLength: 1, maxLength: 60 })
    .map((steps) => [userMessage("Begin."), ...steps.flatMap(messagesOf)]);
}

/** A state with about 160 messages, long enough for any compactor to find something to shorten. */
export function longConversation(): AgentState {
  const steps = Array.from({ length: 40 }, (): ConversationStep[] => [
    { kind: "user", words: 50 },
    { kind: "tools", calls: 2, words: 400 },
    { kind: "assistant", words: 100 },
  ]);
  return stateOf([...steps.flat().flatMap(messagesOf), userMessage("And now?")]);
}

/** A state that holds these messages and a few sections that no compaction may touch. */
export function stateOf(messages: readonly Message[]): AgentState {
  const state = AgentState.create(sampleSlot);
  state.tasksContext = { tasks: [{ content: "finish", status: "in_progress" }] };
  state.planModeContext = { active: true, planFile: "plans/session.md" };
  state.extensions = { other: { count: 1 } };
  state.contextMutable().push(...messages);
  return state;
}

function messagesOf(step: ConversationStep, index: number): Message[] {
  const text = `step ${index} ${"word ".repeat(step.words)}`;
  if (step.kind === "user") return [userMessage(text)];
  if (step.kind === "assistant") return [assistantMessage(text)];
  const ids = Array.from({ length: step.calls }, (_, call) => `c-${index}-${call}`);
  return [
    assistantMessage(
      ids.map((id) => ({ type: "tool_call", id, name: "look", input: { at: text } })),
    ),
    ...ids.map((toolCallId) =>
      toolResultMessage({
        type: "tool_result",
        toolCallId,
        name: "look",
        state: "success",
        output: [{ type: "text", text }],
      }),
    ),
  ];
}
