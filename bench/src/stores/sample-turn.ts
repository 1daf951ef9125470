import {
  AgentState,
  assistantMessage,
  type JsonObject,
  type Message,
  type Slot,
  userMessage,
} from "@holdfast/core";
import { type LogDraft, uuidv7 } from "@holdfast/core/store-kit";

/** Characters of every message. */
const MESSAGE_CHARACTERS = 400;

/** Text of a question. */
export const questionText: string = repeated("How far is my order, and when will it be here? ");
/** Text of an answer. */
export const answerText: string = repeated("It left the warehouse and is with you on Thursday. ");

/** Messages of one ordinary turn: a question and its answer. */
export function sampleTurn(): readonly [Message, Message] {
  return [userMessage(questionText), assistantMessage(answerText)];
}

/** Records that the engine logs of a call with these messages. */
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

function repeated(sentence: string): string {
  return sentence.repeat(MESSAGE_CHARACTERS).slice(0, MESSAGE_CHARACTERS);
}
