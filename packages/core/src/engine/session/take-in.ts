import { createHash } from "node:crypto";
import { InvalidInputError } from "../../errors/errors.js";
import type { EventBody } from "../../events/agent-event.js";
import { adoptMessage } from "../../message/create-message.js";
import type { Message } from "../../message/message.js";
import type { InboxEntry } from "../../ports/inbox.js";
import type { AgentState } from "../../state/agent-state.js";
import type { LiveState } from "../../state/live-state.js";
import type { RunRecord, UnfinishedRun } from "../../state/sections.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import { type KeptInput, type ReadInput, readInputBody, withFreshIds } from "../call-input.js";
import type { OpenSession } from "./open-session.js";
import { isAnswered, isUnfinished, recordOf, remember } from "./run-records.js";

/** An answer about open tool calls, with the entry that kept it. */
export interface KeptAnswer extends KeptInput {
  readonly entryId: string;
  readonly callId: string;
}

/** Settings of {@link takeIn}. */
export interface TakeInOptions {
  /** Id of the present run, which is that of its own entry: it takes that in itself. */
  readonly runId: string;
  /** Take back what runs that died were to say, instead of going on from it. */
  readonly takeBackUnfinished?: boolean | undefined;
  emit(event: EventBody): void;
}

/**
 * Takes in what waits in the inbox: the input of calls whose process died before a save had it, and messages of interrupts
 * and `steer` whose call had ended. They go into the context before anything the present call says, and are no part of it.
 *
 * @returns answers about open tool calls, which only a running call can apply
 */
export function takeIn(
  parts: AgentParts,
  session: OpenSession,
  entries: readonly InboxEntry[],
  options: TakeInOptions,
): readonly KeptAnswer[] {
  const { runId, takeBackUnfinished = false } = options;
  const answers: KeptAnswer[] = [];
  const found = entries.filter(({ id }) => id !== runId);
  if (found.length === 0) return answers;
  // A message must not come between tool calls and their results.
  const isOpen = Object.keys(session.state.openCalls).length > 0;
  const messageIds: string[] = [];
  for (const entry of found)
    if (entry.kind === "interrupt") takeMessage(session, entry);
    else if (entry.kind === "steer" && isOpen) session.deferred.push(entry);
    else if (entry.kind === "steer") {
      if (!takeMessage(session, entry)) continue;
      messageIds.push(entry.id);
      extendRun(parts, session, entry);
    } else if (entry.kind === "input") {
      const kept = readInputBody(entry);
      if (!kept) continue;
      if (isSettled(recordOf(parts, session, entry.callId), kept)) {
        drop(session, entry);
        continue;
      }
      session.reportTakeover({ callId: entry.callId, runId: entry.id }, options);
      if (takeBackUnfinished) takeBackInput(session, entry, kept);
      else if (kept.input.kind === "messages") takeInput(parts, session, entry, kept);
      else answers.push({ entryId: entry.id, callId: entry.callId, ...kept });
    }
  session.rebase();
  if (messageIds.length > 0) options.emit({ type: "steered", messageIds });
  return answers;
}

/** Takes in a message that is no part of the present run. @returns whether the context did not have it yet */
export function takeMessage(session: OpenSession, entry: InboxEntry): boolean {
  const message = messageIn(entry);
  if (!message) return false;
  session.takeFound(entry.id);
  session.heard.add(entry.id);
  if (session.state.messages.some(({ id }) => id === message.id)) return false;
  append(session, [message]);
  // The same id, whichever call takes it in: a second attempt logs nothing twice.
  const hash = createHash("sha256").update(entry.id).digest("hex");
  session.log.addForeign(`inbox.${hash}`, entry.callId, message);
  return true;
}

/** A run that goes on later has the words that it was to be steered with behind its own. */
function extendRun(parts: AgentParts, session: OpenSession, { id, callId }: InboxEntry): void {
  const { state } = session;
  if (state.resumableRun?.callId === callId)
    state.resumableRun = { ...state.resumableRun, lastId: id };
  const record = recordOf(parts, session, callId);
  if (record && isUnfinished(record)) remember(parts, session, { ...record, lastId: id });
}

/** Returns the message of an interrupt or of `steer`; null when it cannot be read: the session goes on without it. */
function messageIn({ body }: InboxEntry): Message | null {
  try {
    return adoptMessage(body["message"]);
  } catch (error) {
    if (!InvalidInputError.is(error)) throw error;
    return null;
  }
}

function takeInput(
  parts: AgentParts,
  session: OpenSession,
  { id: runId, callId, at }: Omit<InboxEntry, "kind">,
  { input, hash }: KeptInput,
): void {
  const messages = newMessages(session.state, input);
  append(session, messages);
  session.takeFound(runId);
  session.log.addInput({ runId, callId }, messages);
  session.log.endOf({ runId, callId }, "error", null);
  const inputIds = messages.map(({ id }) => id);
  const lastId = inputIds.at(-1);
  const record: RunRecord = {
    ...{ callId, runId, messageId: "", reason: "error", inputIds, at },
    ...(hash !== undefined && { inputHash: hash }),
    ...(lastId !== undefined && { lastId }),
  };
  session.state.resumableRun = record;
  if (hash !== undefined) remember(parts, session, record);
}

/** Takes in the input that the state itself kept for a run which died, or logs it when the run is taken back. */
export function takeDeadInput(
  parts: AgentParts,
  session: OpenSession,
  { runId, callId, input: body }: UnfinishedRun,
  { takeBackUnfinished }: { readonly takeBackUnfinished?: boolean | undefined },
): void {
  const kept = body && readInputBody({ body });
  if (!kept || runId === undefined) return;
  const entry = { id: runId, callId, at: parts.now().toISOString(), body };
  if (takeBackUnfinished) takeBackInput(session, entry, kept);
  else takeInput(parts, session, entry, kept);
}

/** Logs what a run that died was to say, and that it was taken back with the rest of the run. */
function takeBackInput(
  session: OpenSession,
  { id: runId, callId }: Omit<InboxEntry, "kind">,
  { input }: KeptInput,
): void {
  session.takeFound(runId);
  if (input.kind === "messages") session.log.addInput({ runId, callId }, input.messages);
  session.log.endOf({ runId, callId }, "rolled_back", null);
}

/** Returns the messages of an input that the context does not have yet. */
function newMessages({ context }: AgentState, input: ReadInput): readonly Message[] {
  if (input.kind !== "messages") return [];
  if (input.foreignIds) return withFreshIds(input.messages, context);
  const present = new Set(context.map(({ id }) => id));
  return input.messages.filter(({ id }) => !present.has(id));
}

/** Returns the words that wait to be taken into a state, for readers who cannot wait for the next call. */
export function pendingWords(
  parts: AgentParts,
  state: LiveState,
  entries: readonly InboxEntry[],
): readonly Message[] {
  const { unfinishedRun: run } = state;
  const waiting = [
    ...(run?.input ? [{ callId: run.callId, body: run.input }] : []),
    ...entries.filter(({ kind }) => kind === "input"),
  ];
  // Whatever waits beside the words of a named call is from a duplicate of it.
  const heard = new Set(run && !run.inputUnsaid ? [run.callId] : []);
  const inputs = waiting.flatMap(({ callId, body }) => {
    const kept = readInputBody({ body });
    if (!kept || isSettled(recordOf(parts, { state, record: undefined }, callId), kept)) return [];
    const isNamed = kept.hash !== undefined;
    if (isNamed && heard.has(callId)) return [];
    if (isNamed) heard.add(callId);
    return newMessages(state, kept.input);
  });
  const present = new Set(state.messages.map(({ id }) => id));
  const said = entries
    .filter(({ kind }) => kind !== "input")
    .flatMap((entry) => messageIn(entry) ?? [])
    .filter(({ id }) => !present.has(id));
  return [...inputs, ...said];
}

/**
 * Tells whether an input that was found need not be said, by what is recorded of the named call it came with: that was
 * answered, or has said it. Duplicates whose process died leave such inputs, and so do commands that were still under way when
 * their caller had given up.
 */
function isSettled(record: RunRecord | null, { hash, input }: KeptInput): boolean {
  if (record === null || hash === undefined) return false;
  return isAnswered(record, hash) || input.kind === "messages";
}

/** Removes an entry with the next save, or with the lease when there is none. */
function drop(session: OpenSession, { id }: InboxEntry): void {
  session.taken.add(id);
  session.dropped.push(id);
}

/** Spliced, not pushed: the present call did not say it. */
function append({ state }: OpenSession, messages: readonly Message[]): void {
  state.contextMutable().splice(state.messages.length, 0, ...messages);
}
