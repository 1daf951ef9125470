import { ModelError, StateCorruptError } from "../errors/index.js";
import { createMessage } from "../message/create-message.js";
import type { Message } from "../message/message.js";
import type { CallOutcome } from "../ports/conversation-log.js";
import type { CallScope } from "./call-scope.js";
import { restoreSound } from "./save/check-state.js";
import { sayInput } from "./save/save-opening.js";
import { type SaveOptions, saveSession } from "./save/save-session.js";
import { recordUnsaved } from "./save/write-log.js";
import { recordOfRun, remember } from "./session/run-records.js";
import { sayInterrupts } from "./session/take-steered.js";
import { endToolCalls } from "./tools/close-calls.js";

/** Progress of a turn. */
export interface TurnProgress {
  /** True once the session has taken the input: before that a failing call was refused and leaves no trace. */
  isAccepted: boolean;
  /** True when the turn goes on with tool calls of an earlier one. */
  isResumed: boolean;
}

/** Returns the settings of the last save of a turn. */
export function lastSave(
  { session }: CallScope,
  { isResumed }: TurnProgress,
  outcome: CallOutcome,
): SaveOptions {
  return { final: true, outcome, mergeable: !session.hasSavedSteps && !isResumed };
}

/** Brings the session of a call that was stopped from outside to its end, and returns whatever the call had said so far. */
export async function stopTurn(
  scope: CallScope,
): Promise<{ readonly message: Message; readonly reason: "shutdown" | "interrupted" }> {
  const { parts, stop, session } = scope;
  stop.close();
  const partial = session.state.messages.findLast(
    ({ id, role }) => role === "assistant" && session.said.has(id),
  );
  if (stop.kind === "rollback") {
    session.taken.add(session.run.runId);
    session.takeBack();
  } else {
    sayInput(scope);
    if (stop.kind === "shutdown") {
      endToolCalls(scope, { which: (state) => state === "started" });
      session.state.shutdownInterrupted = true;
    } else endToolCalls(scope);
    if (stop.kind === "interrupt") await sayInterrupts(scope);
  }
  const message = partial ?? createMessage("assistant", [], { createdAt: parts.now() });
  return { message, reason: stop.kind === "shutdown" ? "shutdown" : "interrupted" };
}

/** Saves what a failed call had done, its input above all, and throws. A call that was refused leaves no trace. */
export async function failTurn(
  scope: CallScope,
  progress: TurnProgress,
  thrown: unknown,
  outcome: CallOutcome,
): Promise<never> {
  const { session } = scope;
  scope.stop.close();
  const bad = restoreSound(scope.parts, session);
  // A plugin takes what this call has put into its state for damage.
  const error = bad && StateCorruptError.is(thrown) ? bad : thrown;
  if (bad && bad !== error) attach(error, "stateError", bad);
  try {
    if (outcome === "conflict") await recordUnsaved(scope, outcome);
    else if (!progress.isAccepted) session.dropped.push(session.run.runId);
    else if (isRefused(error, progress)) {
      sayInput(scope);
      session.takeBack();
      session.dropSteered();
      session.state.unfinishedRun = null;
      await saveSession(scope, lastSave(scope, progress, "rolled_back"));
    } else {
      sayInput(scope);
      endToolCalls(scope);
      session.state.unfinishedRun = null;
      rememberUnfinished(scope, outcome === "error");
      await saveSession(scope, lastSave(scope, progress, outcome));
    }
  } catch (saveError) {
    attach(error, "saveError", saveError);
  }
  throw error;
}

/** @param resumable - whether the run may be continued without its caller: not one that its caller gave up */
function rememberUnfinished(scope: CallScope, resumable: boolean): void {
  const { session, parts, named } = scope;
  const record = recordOfRun(scope, "", "error");
  session.state.resumableRun = resumable ? record : null;
  if (named) remember(parts, session, record);
}

/**
 * Tells whether the provider will not have what this turn says. Kept in the context it would be sent, and refused, with every
 * later call; so the turn is taken back, and only the log has it. Not one that goes on with tool calls of an earlier turn.
 */
function isRefused(error: unknown, { isResumed }: TurnProgress): boolean {
  return ModelError.is(error) && error.kind === "content" && !isResumed;
}

/** Adds a property to an error; not enumerable, so that logging the error does not print the conversation. */
export function attach(error: unknown, key: string, value: unknown): void {
  if (error instanceof Error) Object.defineProperty(error, key, { value, configurable: true });
}
