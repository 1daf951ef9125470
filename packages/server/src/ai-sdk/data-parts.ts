import type { JsonValue } from "@holdfast/core";

/** Part of a message with data of this package's own. */
export interface DataPart {
  readonly type: `data-${string}`;
  readonly data: JsonValue;
}

/** Fields of a compaction that its event and its mark in the log have in common. */
interface CompactionFacts {
  readonly cause?: unknown;
  readonly actions?: unknown;
  readonly messagesBefore?: unknown;
  readonly messagesAfter?: unknown;
  readonly tokensBefore?: unknown;
  readonly tokensAfter?: unknown;
}

/** Returns the part that shows where the context was compacted. */
export function compactionPart(facts: CompactionFacts): DataPart {
  const { cause, actions, messagesBefore, messagesAfter, tokensBefore, tokensAfter } = facts;
  return dataPart("compaction", {
    status: "done",
    ...{ cause, actions, messagesBefore, messagesAfter, tokensBefore, tokensAfter },
  });
}

/** Returns the part that tells where a result is that was too large for the context. */
export function evictionPart(facts: {
  readonly toolCallId?: unknown;
  readonly name?: unknown;
  readonly chars?: unknown;
  readonly reference?: unknown;
}): DataPart {
  const { toolCallId, name, chars, reference } = facts;
  return dataPart("eviction", { toolCallId, name, chars, reference });
}

/** Returns the part that shows where words of the user came in while the agent worked. */
export function steeredPart(messageId: string, text: string): DataPart {
  return dataPart("steered", { messageId, text });
}

function dataPart(name: string, data: object): DataPart {
  // Of events and log records, which hold nothing but JSON.
  return { type: `data-${name}`, data: data as unknown as JsonValue };
}
