import { type ConversationLog, InvalidInputError, type Slot } from "@holdfast/core";
import type { YieldingClock } from "@holdfast/core/plugin-kit";
import type { CallStates } from "../call-states.js";
import type { Caller } from "../caller.js";
import { type Arguments, howTo, sessionArguments } from "../how-to.js";
import type { SessionToolsSettings } from "../session-tools-options.js";
import { HISTORY } from "../tool-names.js";

/** What it takes to read a session. */
export interface Reading {
  readonly log: ConversationLog;
  readonly slot: Slot;
  readonly caller: Caller;
  readonly clock: YieldingClock;
  readonly states: CallStates;
  readonly settings: SessionToolsSettings;
}

/** How to call `session_history` for more of the same session. */
export function historyCall(
  { caller, slot }: Pick<Reading, "caller" | "slot">,
  args: Arguments,
  includeDiscarded: boolean | undefined,
): string {
  return howTo(HISTORY, {
    ...args,
    ...sessionArguments(caller, slot),
    includeDiscarded: includeDiscarded === true ? true : undefined,
  });
}

/** Refuses an offset behind the end. */
export function behindEnd(what: string, chars: number, offset: number): InvalidInputError {
  return new InvalidInputError(
    `${what} has ${chars} characters; there is nothing at offset ${offset}`,
  );
}
