import type { Message } from "../../message/message.js";
import type { LogRange, LogRecord } from "../../ports/conversation-log.js";
import type { Slot } from "../../slot/slot.js";
import { LiveState } from "../../state/live-state.js";
import { CallOutcomes, isDiscarded } from "../../store-kit/log/call-outcomes.js";
import { withBlobs } from "../../store-kit/log/with-blobs.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import { storedState } from "./stored-state.js";
import { pendingWords } from "./take-in.js";

/** Record of a session's log, with what a front end needs to show it. */
interface HistoryRecord extends LogRecord {
  /** No part of the conversation, or not yet: its call was rolled back, met a conflict or was not saved. */
  readonly discarded: boolean;
  /** The model still has the message in its context, whole or shortened. */
  readonly inContext: boolean;
}

/** Page of a session's history. */
export interface HistoryPage {
  /** Records in ascending `seq`, messages whole; pass the first `seq` as `before` for the page before them. */
  readonly records: readonly HistoryRecord[];
  /** With the newest records, words that the log does not have yet: the input of a call that runs, or of `steer`. */
  readonly waiting: readonly Message[];
}

/** Reads a page of a session's log. Waits for no call; reading is all it does. */
export async function readHistory(
  parts: AgentParts,
  slot: Slot,
  range: LogRange,
): Promise<HistoryPage> {
  const isNewest = range.before === undefined && range.after === undefined;
  // In the order in which words move on, so that none is missed between two of them.
  const entries = (isNewest && (await parts.stateStore.inbox?.read(slot))) || [];
  const state = (await storedState(parts, slot)) ?? LiveState.create(slot);
  const found = await parts.log.read(slot, range);
  const outcomes = new CallOutcomes(parts.log, {
    stateStore: parts.stateStore,
    agentId: slot.agentId,
  });
  const context = new Set(state.messages.map(({ id }) => id));
  const isKnown = ({ message }: LogRecord) => message !== undefined && context.has(message.id);
  // What was logged after the state was read is at the end of the context.
  const lastKnown = isNewest ? found.findLast(isKnown)?.seq : undefined;
  const records: HistoryRecord[] = [];
  for (const record of found) {
    const discarded = isDiscarded(await outcomes.of(slot, record));
    const isLater = lastKnown !== undefined && record.seq > lastKnown;
    records.push({
      ...(await withBlobs(parts.log, slot, record)),
      discarded,
      inContext: isKnown(record) || (isLater && record.kind === "message" && !discarded),
    });
  }
  const logged = new Set(found.flatMap(({ message }) => message?.id ?? []));
  const waiting = isNewest ? pendingWords(parts, state, entries) : [];
  return { records, waiting: waiting.filter(({ id }) => !logged.has(id)) };
}
