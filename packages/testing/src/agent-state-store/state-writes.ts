import assert from "node:assert/strict";
import {
  AgentState,
  type AgentStateStore,
  type JsonObject,
  type Message,
  type Revision,
  type Slot,
  StateConflictError,
  StoreUnavailableError,
} from "@holdfast/core";
import { type LoadedState, type StateWrite, uuidv7 } from "@holdfast/core/store-kit";

/** A head as the engine would write it, with `note` inside so that two can be told apart. */
export function sampleHead(slot: Slot, note = "sample"): JsonObject {
  const state = AgentState.create(slot);
  state.extensions = { note };
  return JSON.parse(JSON.stringify(state.head()));
}

/** A first save of `messages`; `fields` override. */
export function firstWrite(
  slot: Slot,
  messages: readonly Message[],
  fields: Partial<StateWrite> = {},
): StateWrite {
  return {
    op: uuidv7(),
    expected: null,
    head: sampleHead(slot),
    keep: 0,
    replace: [],
    append: messages,
    ...fields,
  };
}

/** A save that appends to what was loaded; `fields` override. */
export function nextWrite(
  loaded: LoadedState,
  messages: readonly Message[],
  fields: Partial<StateWrite> = {},
): StateWrite {
  return {
    op: uuidv7(),
    expected: loaded.revision,
    head: loaded.head,
    keep: loaded.messages.length,
    replace: [],
    append: messages,
    ...fields,
  };
}

/** Loads the state of a slot; fails when there is none. */
export async function loadState(store: AgentStateStore, slot: Slot): Promise<LoadedState> {
  const loaded = await store.load(slot);
  assert.notEqual(loaded, null, "a saved state must not load as absent");
  assert.notEqual(loaded, "unchanged", '"unchanged" answers a known revision, and none was given');
  return loaded as LoadedState;
}

/** Saves on top of what is stored, which stays as it is but for `fields`. */
export async function saveNext(
  store: AgentStateStore,
  slot: Slot,
  fields: Partial<StateWrite>,
): Promise<Revision> {
  return store.save(slot, nextWrite(await loadState(store, slot), [], fields));
}

/** Fails unless exactly these messages came back, without the cost of a diff over thousands. */
export function assertMessages(actual: readonly Message[], expected: readonly Message[]): void {
  assert.equal(actual.length, expected.length, "number of messages");
  for (const [index, message] of expected.entries())
    assert.deepStrictEqual(actual[index], message, `message ${index} came back changed`);
}

/** Fails unless the slot holds exactly this. */
export async function assertStored(
  store: AgentStateStore,
  slot: Slot,
  expected: LoadedState,
): Promise<void> {
  const loaded = await loadState(store, slot);
  assert.equal(loaded.revision, expected.revision, "the stored revision");
  assert.deepStrictEqual(loaded.head, expected.head, "the stored head");
  assertMessages(loaded.messages, expected.messages);
}

/** Adds one message with optimistic locking: load, append, save, and again on every conflict and for want of a connection. */
export async function appendWithRetry(
  store: AgentStateStore,
  slot: Slot,
  message: Message,
): Promise<void> {
  for (;;) {
    try {
      const loaded = await store.load(slot);
      assert.notEqual(loaded, "unchanged");
      const write =
        loaded === null ? firstWrite(slot, [message]) : nextWrite(loaded as LoadedState, [message]);
      await store.save(slot, write);
      return;
    } catch (error) {
      // A store with few connections may have none in time for one of many: nothing was written then.
      if (!StateConflictError.is(error) && !StoreUnavailableError.is(error)) throw error;
    }
  }
}
