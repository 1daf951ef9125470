import { InvalidInputError, StateTooLargeError } from "../errors/index.js";
import type { Message } from "../message/message.js";
import { describeSlot } from "../slot/slot.js";
import type { RunRecord } from "../state/sections.js";
import { type ReadInput, withFreshIds } from "./call-input.js";
import type { CallScope } from "./call-scope.js";
import { restate } from "./session/run-records.js";
import type { KeptAnswer } from "./session/take-in.js";
import { type Resumption, resume } from "./tools/resume.js";

/** Input of a turn, and what comes with it. */
export interface TurnInput {
  /** Null for a turn that only goes on with an earlier run. */
  readonly input: ReadInput | null;
  /** Answers about open tool calls of runs that died, to be applied first. */
  readonly answers: readonly KeptAnswer[];
  /** Unfinished run of the same request, to go on with. */
  readonly continued: RunRecord | null;
}

/**
 * Checks the session against its limits, takes in what the input says about open tool calls, and decides which messages the
 * run answers.
 *
 * @throws StateTooLargeError | PendingConfirmationError | InvalidInputError when the session refuses the input
 */
export async function takeTurnInput(scope: CallScope, given: TurnInput): Promise<Resumption> {
  const { parts, slot, session } = scope;
  const { stateBytes } = parts.settings.limits;
  const bytes = session.state.contextBytes();
  if (bytes > stateBytes)
    throw new StateTooLargeError(
      `${describeSlot(slot)} holds ${bytes} bytes of messages; limits.stateBytes allows ${stateBytes}. Compact it (agent.compact) or raise the limit`,
    );
  await takeAnswers(scope, given.answers);
  const fresh = freshInput(scope, given);
  const resumption = await resume(scope, fresh, { goesOn: session.goesOn });
  await arrange(scope, given, fresh);
  return resumption;
}

/** Applies what other calls, which died, were to say about open tool calls. None of it is part of the present run. */
async function takeAnswers(scope: CallScope, answers: readonly KeptAnswer[]): Promise<void> {
  const { session } = scope;
  for (const { entryId: runId, callId, input } of answers) {
    const run = { runId, callId };
    session.takeFound(runId);
    try {
      await resume(scope, input, { goesOn: true, run });
      session.settleAnswer(run);
    } catch (error) {
      // It was answered otherwise meanwhile.
      if (!InvalidInputError.is(error)) throw error;
    }
  }
  if (answers.length > 0) session.rebase();
}

/** Returns what of the input is new to the session: nothing, when an earlier run has it there already. */
function freshInput({ session }: CallScope, { input, continued }: TurnInput): ReadInput {
  if (input === null || continued) return { kind: "messages", messages: [], foreignIds: false };
  if (input.kind !== "messages" || !input.foreignIds) return input;
  return { ...input, messages: withFreshIds(input.messages, session.state.messages) };
}

/** Decides which messages the run answers, and puts those of the run it goes on with at the end of the context. */
async function arrange(
  scope: CallScope,
  { input, continued }: TurnInput,
  fresh: ReadInput,
): Promise<void> {
  const { session, run, parts } = scope;
  if (fresh.kind === "messages") answer(scope, fresh.messages);
  else session.taken.add(run.runId);
  if (!continued) return;
  session.taken.add(run.runId);
  scope.inputHash ??= continued.inputHash;
  // A record of an earlier release does not name the input; it is in the session.
  if (!continued.inputIds) return;
  scope.inputIds = continued.inputIds;
  const isThere = await restate(parts, session, continued);
  const isInput = new Set(continued.inputIds);
  session.continued = {
    runId: continued.runId,
    input: session.state.messages.filter(({ id }) => isInput.has(id)),
  };
  if (isThere || input?.kind !== "messages") return;
  // A provider had refused it, so that the session kept nothing of it.
  answer(scope, withFreshIds(input.messages, session.state.messages));
}

function answer(scope: CallScope, input: readonly Message[]): void {
  scope.newInput = input;
  scope.inputIds = input.map(({ id }) => id);
  scope.session.log.expectInput(input);
}
