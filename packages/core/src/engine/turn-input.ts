import {
  InvalidInputError,
  PendingConfirmationError,
  StateTooLargeError,
} from "../errors/index.js";
import type { PendingCall } from "../events/agent-reply.js";
import type { Message, ToolCallBlock } from "../message/message.js";
import { messageBytes, toolCallsOf } from "../message/read-message.js";
import { describeSlot } from "../slot/slot.js";
import type { RunRecord } from "../state/sections.js";
import { type ReadInput, withFreshIds } from "./call-input.js";
import type { CallScope } from "./call-scope.js";
import type { RunName } from "./save/log-batch.js";
import type { OpenSession } from "./session/open-session.js";
import { messagesOf, restate } from "./session/run-records.js";
import type { KeptAnswer } from "./session/take-in.js";
import type { Answers } from "./tools/acting.js";
import { endToolCalls } from "./tools/close-calls.js";
import { isSuspended, openCallsOf, questionOf } from "./tools/open-calls.js";
import { type OpenAsks, takeConfirmations, takeResults } from "./tools/take-answers.js";
import { takeQuestionAnswers } from "./tools/take-question-answers.js";
import { delegatedAsks } from "./tools/waiting-calls.js";

/** Text of calls that do not run because a person denied another one and stopped. */
export const ENDED_BY_DENIAL = "Not run: the user denied a call and stopped.";

/** Calls of an earlier message that run before the model is asked again. */
export interface Resumption extends Answers {
  readonly calls: readonly ToolCallBlock[];
  /** True when this call goes on from where another one paused. */
  readonly resumed: boolean;
  /** True when a denial ends the turn: only agents that were answered are told, and the model is not asked. */
  readonly ends: boolean;
}

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
  const added = addedBytes(given);
  if (added > stateBytes)
    throw new StateTooLargeError(
      `the input for ${describeSlot(slot)} has ${added} bytes; limits.stateBytes allows ${stateBytes}. Say it in several calls, put it into files, or raise the limit`,
    );
  const fresh = freshInput(scope, given);
  // First: a call that is stopped in what follows keeps its words.
  if (fresh.kind === "messages") answer(scope, fresh.messages);
  await takeKept(scope, given.answers);
  const endsWaiting = mayEndWaiting(session, given);
  const resumption = await resume(scope, fresh, { goesOn: session.goesOn, endsWaiting });
  await arrange(scope, given, fresh);
  return resumption;
}

function addedBytes({ input, continued }: TurnInput): number {
  if (continued || input?.kind !== "messages") return 0;
  return input.messages.reduce((sum, message) => sum + messageBytes(message), 0);
}

/** Applies what other calls, which died, were to say about open tool calls. None of it is part of the present run. */
async function takeKept(scope: CallScope, answers: readonly KeptAnswer[]): Promise<void> {
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

/**
 * Tells whether a run that is gone on with may end with what waits: tool calls of its own, or any for one that had no words. Words
 * would have to move behind the calls of another.
 */
function mayEndWaiting({ state }: OpenSession, { continued }: TurnInput): boolean {
  if (!continued?.inputIds || continued.inputIds.length === 0) return continued !== null;
  const own = messagesOf(state.messages, continued)?.own ?? [];
  const ids = new Set(own.flatMap(toolCallsOf).map(({ id }) => id));
  return openCallsOf(state).every(({ call }) => ids.has(call.id));
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
  if (fresh.kind !== "messages") session.taken.add(run.runId);
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
    lastId: isThere ? session.state.messages.at(-1)?.id : undefined,
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

/** Settings of {@link resume}. */
interface ResumptionOptions {
  /** Open calls run although the input says nothing about them: an earlier call was to answer them and died. */
  readonly goesOn: boolean;
  /** The turn may end with what waits, instead of being refused. @default false */
  readonly endsWaiting?: boolean | undefined;
  /** Run whose input it is. @default the present one */
  readonly run?: RunName | undefined;
}

/**
 * Takes in what the input says about open tool calls.
 *
 * @throws PendingConfirmationError for plain input while a tool call waits for an answer
 * @throws InvalidInputError for answers about calls that do not wait for them
 */
async function resume(
  scope: CallScope,
  input: ReadInput,
  { goesOn, endsWaiting = false, run: answering = scope.run }: ResumptionOptions,
): Promise<Resumption> {
  const { state } = scope.session;
  const asks = await openAsks(scope);
  let delegated: Answers["delegated"] = new Map();
  if (input.kind === "confirm")
    delegated = await takeConfirmations(scope, answering, input.confirm, asks);
  if (input.kind === "results") await takeResults(scope, answering, input.results);
  if (input.kind === "answers")
    delegated = takeQuestionAnswers(scope, answering, input.answers, asks);
  if (input.kind === "messages" && input.messages.length > 0) denyPending(scope);
  const open = openCallsOf(state);
  const interrupted = state.shutdownInterrupted || goesOn;
  state.shutdownInterrupted = false;
  // The agent that they run was answered elsewhere, and waits no more.
  const answered = (id: string) => asks.get(id)?.length === 0;
  const waiting = open.filter(({ call, state }) => state !== "pending" || !answered(call.id));
  const isAsking = waiting.some(
    (one) => one.state === "asking" || asks.has(one.call.id) || isSuspended(state, one),
  );
  const isRefused = isAsking || !interrupted;
  if (input.kind === "messages" && !endsWaiting && waiting.length > 0 && isRefused)
    throw pendingError(scope, waiting, asks);
  const ends = input.kind === "confirm" && input.confirm.some(({ interrupt }) => interrupt);
  if (ends)
    endToolCalls(scope, {
      which: (_, { id }) => !delegated.has(id),
      text: ENDED_BY_DENIAL,
    });
  const run = open.filter((one) =>
    ends
      ? delegated.has(one.call.id)
      : one.state === "allowed" ||
        (one.state === "pending" &&
          ((interrupted && !isSuspended(state, one)) || answered(one.call.id))),
  );
  return {
    calls: run.map(({ call }) => call),
    approved: new Set(run.filter((one) => one.state === "allowed").map(({ call }) => call.id)),
    delegated,
    resumed: input.kind !== "messages" || interrupted || run.length > 0,
    ends,
  };
}

/** Returns what the agents that suspended calls run ask a person, by tool call. */
async function openAsks(scope: CallScope): Promise<OpenAsks> {
  const asks = new Map<string, readonly PendingCall[]>();
  for (const { call, state } of openCallsOf(scope.session.state)) {
    const tool = scope.parts.tools.get(call.name);
    if (state === "pending" && tool?.delegation)
      asks.set(call.id, await delegatedAsks(scope, call, tool));
  }
  return asks;
}

/** Answers what waits with a denial, where the caller of a new message wants that. */
function denyPending(scope: CallScope): void {
  const { ctx, session } = scope;
  if (ctx.onPending !== "deny") return;
  const goesOn = session.goesOn || session.state.shutdownInterrupted;
  endToolCalls(scope, {
    // What an earlier run had begun is not waited for: it goes on.
    which: (state, call) =>
      !goesOn || state === "asking" || isSuspended(session.state, { call, state }),
    text: "Not run: the user answered with a new message instead.",
    resultState: "denied",
  });
}

/** Names the calls that can be answered; those that were allowed only wait for the others. */
function pendingError(
  { slot, session }: CallScope,
  open: ReturnType<typeof openCallsOf>,
  asks: OpenAsks,
): PendingConfirmationError {
  const hasQuestion = (call: ToolCallBlock) => questionOf(session.state, call)?.asked !== undefined;
  const own = (wanted: "asking" | "pending", isQuestion = false) =>
    open
      .filter(({ call, state }) => state === wanted && !asks.has(call.id))
      .filter(({ call }) => hasQuestion(call) === isQuestion)
      .map(({ call: { name, id } }) => ({ name, toolCallId: id }));
  const passedOn = [...asks.values()].flat();
  const asking = [...own("asking"), ...passedOn.filter(({ question }) => !question)];
  const questions = [...own("pending", true), ...passedOn.filter(({ question }) => question)];
  const suspended = own("pending");
  const named = (calls: readonly { readonly name: string; readonly toolCallId: string }[]) =>
    calls.map(({ name, toolCallId }) => `${name} (${toolCallId})`).join(", ");
  const waits = [
    ...(asking.length === 0
      ? []
      : [`an approval of ${named(asking)}: { confirm: [{ toolCallId, approve }] }`]),
    ...(questions.length === 0
      ? []
      : [`an answer to ${named(questions)}: { answers: [{ toolCallId, action, content }] }`]),
    ...(suspended.length === 0
      ? []
      : [`the result of ${named(suspended)}: { results: [{ toolCallId, output }] }`]),
  ];
  return new PendingConfirmationError(
    `${describeSlot(slot)} takes no new message: it waits for ${waits.join(", and for ") || "tool calls that were allowed and have not run"}. Answer with agent.call, or give up on what waits with agent.interrupt`,
    [...asking, ...questions, ...suspended].map(({ toolCallId }) => toolCallId),
  );
}
