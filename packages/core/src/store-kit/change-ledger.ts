import type { Message } from "../message/message.js";
import type { Revision } from "../ports/agent-state-store.js";
import type { MessageWrite } from "./apply-write.js";
import { revisionSeq } from "./revision.js";

/** Messages that the saves between two revisions kept and replaced. */
export interface SavedChange {
  readonly from: Revision;
  readonly to: Revision;
  /** Messages of `from` that stayed, counted from the start. */
  readonly keep: number;
  /** Indexes below `keep` whose message was replaced, in any order, each once. */
  readonly replaced: readonly number[];
  /** Lease of the saves, if they had one: those of one lease share an entry, however many steps its run saved. */
  readonly lease?: string | undefined;
}

/**
 * Latest changes of a slot, oldest first, each from the revision that the one before led to: what a store keeps to answer a
 * load with a `StateChange`.
 */
export type ChangeLedger = readonly SavedChange[];

/** Number of changes a store remembers: nodes that take turns find the revision they know among them. */
export const REMEMBERED_CHANGES = 32;
/** Replaced indexes of one change beyond which it is not remembered: reading the whole state costs little more. */
export const MAX_REPLACED = 64;

/**
 * Returns the ledger after a save. Earlier changes are forgotten when the new one does not follow them, as after a save of a
 * release that keeps no ledger.
 */
export function withChange(ledger: ChangeLedger, change: SavedChange): ChangeLedger {
  if (change.replaced.length > MAX_REPLACED) return [];
  const last = ledger.at(-1);
  if (last?.to !== change.from) return [change];
  if (last.lease === undefined || last.lease !== change.lease)
    return [...ledger, change].slice(-REMEMBERED_CHANGES);
  const merged = { ...joined([last, change]), from: last.from, to: change.to, lease: last.lease };
  return merged.replaced.length > MAX_REPLACED ? [] : [...ledger.slice(0, -1), merged];
}

/** Returns what happened to the messages since `known`; undefined when the ledger does not reach back to it. */
export function changesSince(
  ledger: ChangeLedger,
  known: Revision,
): Pick<SavedChange, "keep" | "replaced"> | undefined {
  const first = ledger.findLastIndex(({ from }) => from === known);
  return first < 0 ? undefined : joined(ledger.slice(first));
}

/**
 * Tells that the stored state does not go back to `known`: another revision with the same number is remembered. Saves of the
 * known revision's history were lost, though others have been made since.
 *
 * @param saved - revisions of the latest saves, which tell apart those of one lease; a ledger has the last of them alone
 */
export function isForked(
  ledger: ChangeLedger,
  known: Revision,
  saved: readonly Revision[] = [],
): boolean {
  const seq = revisionSeq(known);
  const remembered = [...saved, ...ledger.flatMap(({ from, to }) => [from, to])];
  return remembered.some((revision) => revision !== known && revisionSeq(revision) === seq);
}

/** Returns the part of a `StateChange` about messages. */
export function messageChange<T = Message>(
  present: readonly T[],
  { keep, replaced }: Pick<SavedChange, "keep" | "replaced">,
): MessageWrite<T> {
  const replace = replaced.map((index) => [index, present[index] as T] as const);
  return { keep, replace, append: present.slice(keep) };
}

function joined(changes: ChangeLedger): Pick<SavedChange, "keep" | "replaced"> {
  const keep = Math.min(...changes.map((change) => change.keep));
  const replaced = new Set(changes.flatMap((change) => change.replaced));
  return { keep, replaced: [...replaced].filter((index) => index < keep).sort((a, b) => a - b) };
}
