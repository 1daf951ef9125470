import { type ConversationLog, InvalidInputError, type Slot } from "@holdfast/core";
import type { YieldingClock } from "@holdfast/core/plugin-kit";
import type { CallRemarks } from "../call-remarks.js";
import type { Caller } from "../caller.js";
import { isMessage, type MessageRecord } from "../log-records.js";
import { refuseMissingSession } from "../missing-session.js";
import type { SessionToolsSettings } from "../session-tools-options.js";
import { type Arguments, describeCall, HISTORY, sessionArguments } from "../tool-calls.js";

/** The session that is read, and the parts needed to read it. */
export interface Reading {
  readonly log: ConversationLog;
  readonly slot: Slot;
  readonly caller: Caller;
  readonly clock: YieldingClock;
  readonly remarks: CallRemarks;
  readonly settings: SessionToolsSettings;
}

/** Describes a call of `session_history` for more of the same session. */
export function historyCall(
  { caller, slot }: Pick<Reading, "caller" | "slot">,
  args: Arguments,
  includeDiscarded: boolean | undefined,
): string {
  return describeCall(HISTORY, {
    ...args,
    ...sessionArguments(caller, slot),
    includeDiscarded: includeDiscarded === true ? true : undefined,
  });
}

/** Makes the error for an offset past the end. */
export function pastEnd(what: string, chars: number, offset: number): InvalidInputError {
  return new InvalidInputError(
    `${what} has ${chars} characters; there is nothing at offset ${offset}`,
  );
}

/** A message that may be shown, and a remark about its call. */
export interface FoundMessage {
  readonly record: MessageRecord;
  readonly remark: string;
}

/**
 * Finds the message at a position.
 *
 * @throws InvalidInputError when there is none that may be shown
 */
export async function findMessage(
  { log, slot, caller, remarks }: Reading,
  at: number,
): Promise<FoundMessage> {
  const [record] = await log.read(slot, { before: at + 1, limit: 1 });
  if (record === undefined) await refuseMissingSession(log, caller, slot);
  if (record === undefined || record.seq !== at || !isMessage(record))
    throw new InvalidInputError(
      `there is no message at position ${at}; a call without \`at\` shows the positions`,
    );
  const remark = await remarks.remark(slot, record);
  if (remark === null)
    throw new InvalidInputError(
      `the message at position ${at} was discarded with its call; includeDiscarded: true shows it`,
    );
  return { record, remark };
}
