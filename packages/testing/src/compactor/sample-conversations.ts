import {
  AgentState,
  assistantMessage,
  type Message,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import fc from "fast-check";
import { sampleSlot } from "../conformance/sample-slot.js";

/** One thing that happens in a conversation. */
type Turn =
  | { readonly kind: "user"; readonly words: number }
  | { readonly kind: "assistant"; readonly words: number }
  | { readonly kind: "tools"; readonly calls: number; readonly words: number };

/** Conversations of any shape, with every tool call answered and a user's request in them. */
export function conversations(): fc.Arbitrary<Message[]> {
  const words = fc.nat({ max: 200 });
  const turn: fc.Arbitrary<Turn> = fc.oneof(
    fc.record({ kind: fc.constant("user" as const), words }),
    fc.record({ kind: fc.constant("assistant" as const), words }),
    fc.record({
      kind: fc.constant("tools" as const),
      calls: fc.integer({ min: 1, max: 4 }),
      words,
    }),
  );
  return fc
    .array(turn, { minLength: 1, maxLength: 60 })
    .map((turns) => [userMessage("Begin."), ...turns.flatMap(messagesOf)]);
}

/** A state with about 160 messages, long enough for any compactor to find something to shorten. */
export function longConversation(): AgentState {
  const turns = Array.from({ length: 40 }, (): Turn[] => [
    { kind: "user", words: 50 },
    { kind: "tools", calls: 2, words: 400 },
    { kind: "assistant", words: 100 },
  ]);
  return stateOf([...turns.flat().flatMap(messagesOf), userMessage("And now?")]);
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

function messagesOf(turn: Turn, index: number): Message[] {
  const text = `turn ${index} ${"word ".repeat(turn.words)}`;
  if (turn.kind === "user") return [userMessage(text)];
  if (turn.kind === "assistant") return [assistantMessage(text)];
  const ids = Array.from({ length: turn.calls }, (_, call) => `c-${index}-${call}`);
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
