import type { AgentReply } from "../../events/agent-reply.js";
import { createMessage } from "../../message/create-message.js";
import type { Message } from "../../message/message.js";
import { textOf, toolCallsOf, toolResultsOf } from "../../message/read-message.js";
import type { InboxEntry } from "../../ports/inbox.js";
import type { Slot } from "../../slot/slot.js";
import type { RunRecord } from "../../state/sections.js";
import { loadWhole } from "../../store-kit/load-whole.js";
import { withBlobs } from "../../store-kit/log/with-blobs.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import { readInputBody } from "../call-input.js";
import type { CallScope } from "../call-scope.js";
import { isShortened } from "../loop/fit-reply.js";
import { outputOf } from "../loop/structured-output.js";
import { answerableTogether, waitingCalls } from "../tools/waiting-calls.js";
import type { OpenSession } from "./open-session.js";
import { stateOf } from "./stored-state.js";

/** Records kept in the head, for stores that keep none beside it. */
const MAX_HEAD_RECORDS = 16;

/** Records searched newest first for a message that left the context. */
const maxLookBack = 100_000;

/** Returns the record of the call with this id, unless it is older than calls are remembered. */
export function recordOf(
  parts: AgentParts,
  { state, record }: Pick<OpenSession, "state" | "record">,
  callId: string,
): RunRecord | null {
  if (record?.callId === callId) return record;
  const oldest = parts.now().getTime() - parts.settings.rememberCalls.forMs;
  const found = state.callRecords.find((kept) => kept.callId === callId);
  return found && (found.at === undefined || Date.parse(found.at) >= oldest) ? found : null;
}

/** Returns the call of the session's last run, when that run has no reply yet; null when there is none. */
export async function unfinishedCall(parts: AgentParts, slot: Slot): Promise<string | null> {
  const { stateStore } = parts;
  // The inbox first: what a save takes out of it in between is then found in the state.
  const entries = (await stateStore.inbox?.read(slot)) ?? [];
  const loaded = await loadWhole(stateStore, slot);
  const state = loaded && stateOf(slot, loaded);
  const isWaiting = ({ kind, callId, body }: InboxEntry) => {
    const record = state && recordOf(parts, { state, record: undefined }, callId);
    return kind === "input" && !(record && isAnswered(record, readInputBody({ body })?.hash));
  };
  const said = entries.findLast(isWaiting);
  return (said ?? state?.unfinishedRun ?? state?.resumableRun)?.callId ?? null;
}

/** Returns the reason with which a named call ended that has its reply; null when it has none, or is not known. */
export async function replyReason(
  { stateStore }: AgentParts,
  slot: Slot,
  callId: string,
): Promise<string | null> {
  const loaded = await loadWhole(stateStore, slot);
  const record = loaded && stateOf(slot, loaded).callRecords.find((kept) => kept.callId === callId);
  return record && !isUnfinished(record) ? record.reason : null;
}

/** Tells whether a run has no reply: it failed, died, or was cut short by a shutdown. */
export function isUnfinished({ reason }: RunRecord): boolean {
  return reason === "shutdown" || reason === "error";
}

/** Tells whether a call with this input has had its answer: the recorded reply, or the refusal of an id that is in use. */
export function isAnswered(record: RunRecord, hash: string | undefined): boolean {
  if (hash === undefined) return false;
  const isRefused = record.inputHash !== undefined && record.inputHash !== hash;
  return isRefused || !isUnfinished(record);
}

/** Puts a record of a named call where the next save keeps it: beside the head where the store can, else in the head. */
export function remember(parts: AgentParts, session: OpenSession, record: RunRecord): void {
  const { state } = session;
  const others = state.finishedCalls.filter(({ callId }) => callId !== record.callId);
  const inHead = (kept: RunRecord) =>
    [...others.filter(({ callId }) => callId !== kept.callId), kept].slice(-MAX_HEAD_RECORDS);
  if (!parts.stateStore.keepsCallRecords) {
    state.finishedCalls = inHead(record);
    return;
  }
  // A save keeps one record beside the head; that of a run which died before goes into the head, which is looked at first.
  const earlier = session.record;
  const isSecond = earlier !== undefined && earlier.callId !== record.callId;
  state.finishedCalls = isSecond ? inHead(earlier) : others;
  session.record = record;
}

/** Returns the record of the present run; without a message it has no reply. */
export function recordOfRun(scope: CallScope, messageId: string, reason: string): RunRecord {
  const { run, inputHash, inputIds, session, parts } = scope;
  session.gather();
  const lastId = session.lastId ?? inputIds.at(-1);
  const isFinished = messageId !== "";
  return {
    ...run,
    ...{ messageId, reason, at: parts.now().toISOString() },
    ...(inputHash !== undefined && { inputHash }),
    ...(!isFinished && { inputIds, ...(lastId !== undefined && { lastId }) }),
  };
}

/** Three-way merge of records: theirs, and what was remembered here since the base. */
export function mergeRecords(
  base: readonly RunRecord[],
  mine: readonly RunRecord[],
  theirs: readonly RunRecord[],
): readonly RunRecord[] {
  const known = new Set(base.map((record) => JSON.stringify(record)));
  const added = mine.filter((record) => !known.has(JSON.stringify(record)));
  const byCall = new Map([...theirs, ...added].map((record) => [record.callId, record]));
  return [...byCall.values()].slice(-MAX_HEAD_RECORDS);
}

/** Returns the reply that a finished run's record stands for. */
export async function recallReply(scope: CallScope, record: RunRecord): Promise<AgentReply> {
  const { parts, session } = scope;
  const { reason, callId, runId = callId } = record;
  const message =
    (await findMessage(parts, session, record.messageId)) ??
    createMessage("assistant", [], { id: record.messageId });
  const isWaiting = reason === "permission_asking" || reason === "tool_suspended";
  return {
    reason,
    message,
    text: textOf(message),
    usage: message.usage ?? { inputTokens: 0, outputTokens: 0 },
    sessionId: session.slot.sessionId,
    callId,
    runId,
    ...(reason === "structured_output" && { output: await outputOf(message, scope.ctx.output) }),
    ...(isWaiting && { pending: answerableTogether(await waitingCalls(scope)) }),
  } as AgentReply;
}

/**
 * Puts an unfinished run's messages at the end of the context, so that the model goes on with them and answers nothing else.
 * Messages that left the context are taken from the log; none is logged again.
 *
 * @returns whether there is anything of the run to go on with
 */
export async function restate(
  parts: AgentParts,
  session: OpenSession,
  record: RunRecord,
): Promise<boolean> {
  const context = session.state.messages;
  const editor = session.state.contextMutable();
  const found = messagesOf(context, record);
  if (!found) {
    const said: Message[] = [];
    for (const id of record.inputIds ?? []) {
      const message = await findMessage(parts, session, id);
      if (message) said.push(message);
    }
    editor.splice(context.length, 0, ...said);
    return said.length > 0;
  }
  const ofRun = new Set([...found.own, ...found.results]);
  const moved = [...context.filter((message) => !ofRun.has(message)), ...ofRun];
  if (moved.some((message, index) => message !== context[index])) editor.replaceAll(moved);
  return true;
}

/** Messages of an unfinished run. */
interface RunMessages {
  /** Its input, and what it had saved. */
  readonly own: readonly Message[];
  /** Results of its tool calls, said by a run that came after it. */
  readonly results: readonly Message[];
}

/** Returns the messages of an unfinished run that are in a context; null when its input is not there. */
export function messagesOf(
  context: readonly Message[],
  { inputIds = [], lastId }: RunRecord,
): RunMessages | null {
  const isInput = new Set(inputIds);
  const first = context.findIndex(({ id }) => isInput.has(id));
  if (first < 0) return null;
  const end = context.findLastIndex(({ id }) => id === lastId || isInput.has(id)) + 1;
  const own = context.slice(first, end);
  const called = new Set(own.flatMap(toolCallsOf).map(({ id }) => id));
  const isResult = (message: Message) =>
    toolResultsOf(message).some(({ toolCallId }) => called.has(toolCallId));
  return { own, results: context.slice(end).filter(isResult) };
}

/** Finds a message as it was said: in the context, or in the log, where compaction cannot reach it. */
async function findMessage(
  parts: AgentParts,
  session: OpenSession,
  id: string,
): Promise<Message | null> {
  const present = session.state.messages.findLast((message) => message.id === id);
  if (present && !isShortened(present)) return present;
  let before: number | undefined;
  for (let seen = 0; seen < maxLookBack; ) {
    const records = await parts.log.read(session.slot, { limit: 100, before });
    const found = records.findLast(({ message }) => message?.id === id);
    if (found) return (await withBlobs(parts.log, session.slot, found)).message as Message;
    if (records.length === 0) break;
    seen += records.length;
    before = records[0]?.seq;
  }
  return present ?? null;
}
