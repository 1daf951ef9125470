import {
  AgentState,
  assistantMessage,
  type JsonObject,
  type Message,
  type Slot,
  userMessage,
} from "@holdfast/core";
import { type LogDraft, uuidv7 } from "@holdfast/core/store-kit";

/** Words of about the length of an ordinary question and answer. */
const question = "How far is the order that I placed on Monday, and when will it be here? ".repeat(
  3,
);
const answer = "It left the warehouse this morning and should be with you on Thursday. ".repeat(8);

/** What one ordinary turn says: a question and its answer. */
export function sampleTurn(): readonly [Message, Message] {
  return [userMessage(question), assistantMessage(answer)];
}

/** What the engine logs of such a turn. */
export function sampleDrafts(messages: readonly Message[]): LogDraft[] {
  const callId = uuidv7();
  const at = new Date().toISOString();
  const of = (fields: Pick<LogDraft, "kind" | "message" | "mark">): LogDraft => ({
    v: 1,
    id: uuidv7(),
    callId,
    at,
    ...fields,
  });
  return [
    ...messages.map((message) => of({ kind: "message", message })),
    of({ kind: "mark", mark: { name: "call_end", outcome: "committed" } }),
  ];
}

/** A head as the engine writes it. */
export function sampleHead(slot: Slot): JsonObject {
  return JSON.parse(JSON.stringify(AgentState.create(slot).head())) as JsonObject;
}
