import type { Revision, SessionInfo, StateWrite } from "../ports/agent-state-store.js";
import type { Slot } from "../slot/slot.js";
import { applyWrite, type MessageWrite } from "../store-kit/apply-write.js";
import { withCallRecord } from "../store-kit/beside-head.js";
import { type ChangeLedger, withChange } from "../store-kit/change-ledger.js";
import { type OpLedger, withOp } from "../store-kit/revision.js";
import type { SavePositions } from "./page-by-saves.js";

/** Session as a listing shows it. */
export interface ListedSession extends SavePositions {
  readonly slot: Slot;
  readonly messages: readonly string[];
  readonly info: string | undefined;
  readonly updatedAt: string;
}

/** State as JSON text per message, so that the cost of a save grows with the change. Replaced as a whole, never edited. */
export interface StoredState extends ListedSession {
  readonly revision: Revision;
  readonly ops: OpLedger;
  readonly changes: ChangeLedger;
  readonly head: string;
  readonly callRecords: readonly { readonly callId: string; readonly text: string }[];
}

/** Returns the facts given with the last save that gave any. */
export function savedInfo({ info }: Pick<ListedSession, "info">): SessionInfo | undefined {
  return info === undefined ? undefined : (JSON.parse(info) as SessionInfo);
}

/**
 * Returns what a save changes of a state.
 *
 * @throws StateCorruptError when the write does not fit the stored messages
 */
export function stateAfter(
  stored: StoredState | undefined,
  slot: Slot,
  write: StateWrite,
  revision: Revision,
): Pick<
  StoredState,
  "revision" | "ops" | "changes" | "head" | "messages" | "callRecords" | "info"
> {
  return {
    revision,
    changes: changesAfter(stored, write, revision),
    ops: withOp(stored?.ops ?? [], write.op, revision),
    head: JSON.stringify(write.head),
    messages: applyWrite(stored?.messages ?? [], asTexts(write), slot),
    callRecords: recordsAfter(stored?.callRecords ?? [], write),
    info: write.info === undefined ? stored?.info : JSON.stringify(write.info),
  };
}

function changesAfter(
  stored: StoredState | undefined,
  { keep, replace, lease }: StateWrite,
  to: Revision,
): ChangeLedger {
  if (stored === undefined) return [];
  const replaced = replace.map(([index]) => index);
  return withChange(stored.changes, { from: stored.revision, to, keep, replaced, lease });
}

function recordsAfter(
  stored: StoredState["callRecords"],
  { callRecord }: StateWrite,
): StoredState["callRecords"] {
  if (callRecord === undefined) return stored;
  const { record, keep } = callRecord;
  return withCallRecord(stored, { callId: record.callId, text: JSON.stringify(record) }, keep);
}

function asTexts({ keep, replace, append }: StateWrite): MessageWrite<string> {
  return {
    keep,
    replace: replace.map(([index, message]) => [index, JSON.stringify(message)]),
    append: append.map((message) => JSON.stringify(message)),
  };
}
