import type { LogRecord, TokenCounter } from "@holdfast/core";
import { withBlobs } from "@holdfast/core/store-kit";
import type { JsonlConversationLog } from "@holdfast/store-json";
import { demoSlot } from "./stage.js";

/** Every record of the demo's session, whole: what was evicted or truncated is as it was. */
export async function logRecords(log: JsonlConversationLog): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for (let after = -1; ; after = records.at(-1)?.seq ?? after) {
    const page = await log.read(demoSlot, { after, limit: 200 });
    if (page.length === 0) return records;
    for (const record of page) records.push(await withBlobs(log, demoSlot, record));
  }
}

/** What a session would have sent if every request held everything that was said before it. */
export interface WholeHistory {
  /** Tokens of the last request of each call. */
  readonly lastRequestOf: ReadonlyMap<string, number>;
  /** Of all requests together. */
  readonly totalTokens: number;
}

/** Works it out from the log, with the counter that the model itself counts with. */
export function wholeHistory(
  records: readonly LogRecord[],
  counter: TokenCounter,
  promptTokens: number,
): WholeHistory {
  const lastRequestOf = new Map<string, number>();
  let tokens = promptTokens;
  let totalTokens = 0;
  for (const { callId, message } of records) {
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
