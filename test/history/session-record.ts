import {
  AgentState,
  type DistributedStore,
  type LogRecord,
  type Message,
  type Slot,
  type ToolResultBlock,
  textOf,
} from "@holdfast/core";
import { CallOutcomes, isDiscarded, loadWhole } from "@holdfast/core/store-kit";
import type { BriefMessage, SaveEvent, Trace } from "./trace.js";

/** A message in a session's log. */
export interface LoggedMessage extends BriefMessage {
  readonly seq: number;
  readonly recordId: string;
  readonly callId: string;
  readonly outcome: Awaited<ReturnType<CallOutcomes["of"]>>;
  /** The session tools show it as part of the conversation. */
  readonly isShown: boolean;
}

/** A save that is part of the way to the final state. */
export type CommittedSave = SaveEvent & {
  readonly t: number;
  readonly node: string;
  /** The session's messages after this save. */
  readonly messages: readonly BriefMessage[];
};

/** A session when everything is over: what is stored, and the saves that led there. */
export interface SessionRecord {
  readonly session: string;
  readonly messages: readonly BriefMessage[];
  readonly tasks: readonly string[];
  readonly log: readonly LoggedMessage[];
  /** The log's other records, for those who look into a violation. */
  readonly marks: readonly LogRecord[];
  /** Saves from the first to the one that made the final state. */
  readonly saves: readonly CommittedSave[];
  /** Revision on the way to the final state that no node has written; null when there is none. */
  readonly unknownRevision: string | null;
}

/** Loads a session, and finds among all the saves that were sent those that were carried out. */
export async function readSession(
  store: DistributedStore,
  slot: Slot,
  trace: Trace,
): Promise<SessionRecord> {
  const loaded = await loadWhole(store.stateStore, slot);
  const state = loaded === null ? null : AgentState.fromParts(loaded);
  const { saves, unknownRevision } = savesUpTo(
    loaded?.revision ?? null,
    trace.of("save", slot.sessionId),
  );
  return {
    session: slot.sessionId,
    messages: (state?.context ?? []).map(briefMessage),
    tasks: (state?.tasksContext.tasks ?? []).map(({ content }) => content),
    ...(await readLog(store, slot)),
    saves,
    unknownRevision,
  };
}

/** Follows the revisions back from the final one, and replays the saves that made them. */
function savesUpTo(
  last: string | null,
  attempts: readonly (SaveEvent & { readonly t: number; readonly node: string })[],
): { readonly saves: CommittedSave[]; readonly unknownRevision: string | null } {
  const byRevision = new Map(attempts.map((save) => [save.revision, save]));
  const way: (SaveEvent & { t: number; node: string })[] = [];
  let unknownRevision: string | null = null;
  for (let revision = last; revision !== null; ) {
    const save = byRevision.get(revision);
    if (save === undefined) {
      unknownRevision = revision;
      break;
    }
    way.push(save);
    revision = save.expected;
  }
  const saves: CommittedSave[] = [];
  const known = new Map<string, BriefMessage>();
  let messages: readonly BriefMessage[] = [];
  for (const save of way.reverse()) {
    for (const message of save.append) known.set(message.id, message);
    messages = [...messages.slice(0, save.keep), ...save.append];
    saves.push({ ...save, messages });
  }
  return { saves, unknownRevision };
}

async function readLog(
  store: DistributedStore,
  slot: Slot,
): Promise<Pick<SessionRecord, "log" | "marks">> {
  const records: LogRecord[] = [];
  for (let after = 0; ; ) {
    const page = await store.log.read(slot, { after, limit: 1_000 });
    const last = page.at(-1);
    if (last === undefined) break;
    records.push(...page);
    after = last.seq;
  }
  const outcomes = new CallOutcomes(store.log, { stateStore: store.stateStore });
  const log: LoggedMessage[] = [];
  for (const record of records) {
    if (record.message === undefined) continue;
    const outcome = await outcomes.of(slot, record);
    const { seq, id: recordId, callId, message } = record;
    const isShown = !isDiscarded(outcome);
    log.push({ ...briefMessage(message), seq, recordId, callId, outcome, isShown });
  }
  return { log, marks: records.filter(({ mark }) => mark !== undefined) };
}

function briefMessage(message: Message): BriefMessage {
  const { id, role, content } = message;
  return {
    id,
    role,
    text: textOf(message),
    calls: content.flatMap((block) => (block.type === "tool_call" ? [block.id] : [])),
    results: content.flatMap((block) =>
      block.type === "tool_result"
        ? [{ id: block.toolCallId, state: block.state, text: outputText(block) }]
        : [],
    ),
  };
}

function outputText({ output }: ToolResultBlock): string {
  return output.map((block) => (block.type === "text" ? block.text : "")).join("");
}
