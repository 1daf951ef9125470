import {
  type AgentStateStore,
  type ConversationLog,
  type JsonObject,
  type LogMark,
  type Message,
  type Slot,
  StateCorruptError,
  userMessage,
} from "@holdfast/core";
import {
  type LoadedState,
  type LogDraft,
  loadWhole,
  type StateWrite,
  uuidv7,
  withBlobs,
} from "@holdfast/core/store-kit";
import { expect } from "vitest";

/** A slot of agent "a" and user "u". */
export function slotOf(sessionId = "s"): Slot {
  return { agentId: "a", userId: "u", sessionId };
}

/** What is stored for a slot that must be there. */
export async function loadState(store: AgentStateStore, slot: Slot): Promise<LoadedState> {
  const loaded = await loadWhole(store, slot);
  if (loaded === null) throw new TypeError("there is no state");
  return loaded;
}

/** A save that appends to what was loaded; `fields` override. */
export function writeOn(
  loaded: LoadedState | null,
  append: readonly Message[],
  fields: Partial<StateWrite> = {},
): StateWrite {
  return {
    op: uuidv7(),
    expected: loaded?.revision ?? null,
    head: loaded?.head ?? { note: "first" },
    keep: loaded?.messages.length ?? 0,
    replace: [],
    append,
    ...fields,
  };
}

/** Saves a first state of user messages with these texts. */
export async function saveTexts(
  store: AgentStateStore,
  slot: Slot,
  texts: readonly string[],
  head: JsonObject = { note: slot.sessionId },
): Promise<void> {
  const messages = texts.map((text) => userMessage(text));
  await store.save(slot, writeOn(null, messages, { head }));
}

/** Changes what lies in the store behind, as an attacker with access to it could; the revision stays. */
export async function tamper(
  inner: AgentStateStore,
  slot: Slot,
  change: (stored: LoadedState) => Partial<LoadedState>,
): Promise<void> {
  const stored = await loadState(inner, slot);
  const { head, messages, revision } = { ...stored, ...change(stored) };
  await inner.save(slot, writeOn(stored, messages, { head, keep: 0, revision }));
}

/** A log record of a message with this text. */
export function said(text: string, fields: Partial<LogDraft> = {}): LogDraft {
  const message = userMessage(text);
  const at = new Date().toISOString();
  return { v: 1, id: message.id, callId: "call", at, kind: "message", message, ...fields };
}

/** A log record of a mark. */
export function marked(mark: LogMark): LogDraft {
  return { v: 1, id: uuidv7(), callId: "call", at: new Date().toISOString(), kind: "mark", mark };
}

/** The records in the log behind as they could be appended once more, long strings included. */
export async function storedDrafts(log: ConversationLog, slot: Slot): Promise<LogDraft[]> {
  const records = await log.read(slot, { limit: 1_000 });
  return Promise.all(
    records.map(async (record) => {
      const { seq: _, ...draft } = await withBlobs(log, slot, record);
      return draft;
    }),
  );
}

/** The error of `work`, which must be that something stored is damaged. */
export async function corruption(work: () => Promise<unknown>): Promise<StateCorruptError> {
  const error = await work().then(
    () => new Error("nothing was noticed"),
    (reason) => reason,
  );
  expect(error).toSatisfy(StateCorruptError.is);
  return error;
}
