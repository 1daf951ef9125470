import type { ConversationLog, LogRecord, Slot, TokenCounter } from "@holdfast/core";
import { withBlobs } from "@holdfast/core/store-kit";

/** Tokens that a session would have sent without Holdfast. */
export interface WholeHistory {
  /** Tokens of the last request of each call: everything said before it, as it was said. */
  readonly lastRequestOf: ReadonlyMap<string, number>;
  /** Of all requests together. */
  readonly totalTokens: number;
}

/** Reads it from the conversation log, which has every message whole, evicted results included. */
export async function wholeHistory(
  log: ConversationLog,
  slot: Slot,
  counter: TokenCounter,
  promptTokens: number,
): Promise<WholeHistory> {
  const lastRequestOf = new Map<string, number>();
  let tokens = promptTokens;
  let totalTokens = 0;
  for await (const { callId, message } of recordsOf(log, slot)) {
    if (message === undefined) continue;
    // Every reply answered one request, which held everything before it.
    if (message.role === "assistant") {
      lastRequestOf.set(callId, tokens);
      totalTokens += tokens;
    }
    tokens += counter.countMessages([message]);
  }
  return { lastRequestOf, totalTokens };
}

async function* recordsOf(log: ConversationLog, slot: Slot): AsyncGenerator<LogRecord> {
  let after = -1;
  for (;;) {
    const page = await log.read(slot, { after, limit: 100 });
    for (const record of page) yield await withBlobs(log, slot, record);
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}
