import type { Caller } from "../caller.js";
import { isSame } from "../caller.js";
import { historyCall } from "../history/reading.js";
import { messageHead } from "../history/record-head.js";
import type { Hit } from "./search.js";
import { oneLine } from "./snippet-at.js";

/** A hit as a model reads it, with the calls that lead to it. */
export function hitRow(hit: Hit, caller: Caller, includeDiscarded: boolean | undefined): string {
  const { slot, record, remark, snippet, offset } = hit;
  const here = isSame(slot, caller.slot) ? " (this session)" : "";
  const call = (args: { at?: number; offset?: number; before?: number }) =>
    historyCall({ caller, slot }, args, includeDiscarded);
  return [
    `${messageHead(record, remark)}, session ${JSON.stringify(slot.sessionId)}${here}`,
    `  ${oneLine(snippet)}`,
    `  read it: ${call({ at: record.seq, offset })}`,
    `  around it: ${call({ before: record.seq + 1 })}`,
  ].join("\n");
}
