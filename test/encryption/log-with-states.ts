import {
  type AgentStateStore,
  type ConversationLog,
  type LogDraft,
  type Slot,
  StateConflictError,
  uuidv7,
} from "@holdfast/core";
import { partsOf } from "./subjects.js";

/** An encrypted log finds a user's sessions by their states: as in an agent, whatever has records here has a state. */
export function logWithStates(store: AgentStateStore): ConversationLog {
  const { log } = partsOf(store);
  return {
    contract: log.contract,
    kind: log.kind,
    reach: log.reach,
    async append(slot: Slot, records: readonly LogDraft[]) {
      await log.append(slot, records);
      const write = { op: uuidv7(), expected: null, head: {}, keep: 0, replace: [], append: [] };
      await store.save(slot, write).catch((error) => {
        if (!StateConflictError.is(error)) throw error;
      });
    },
    read: (slot, range) => log.read(slot, range),
    readBlob: (slot, ref) => log.readBlob(slot, ref),
    search: (query) => log.search(query),
    delete: (slot) => log.delete(slot),
  };
}
