import {
  type AgentStateStore,
  type DistributedStore,
  InMemoryAgentStateStore,
} from "@holdfast/core";

/**
 * A store of a test's own.
 *
 * @param fused - whether a save takes log records along
 */
export function memoryParts(fused = true): DistributedStore {
  return new InMemoryAgentStateStore({ fused }).companions();
}

/** A store whose log is read, or written to, in another way. */
export function withLogReads(
  parts: DistributedStore,
  reads: Partial<Pick<DistributedStore["log"], "read" | "readBlob" | "append">>,
): DistributedStore {
  const { log } = parts;
  return {
    ...parts,
    log: {
      contract: 1,
      kind: log.kind,
      reach: log.reach,
      append: reads.append ?? ((slot, records) => log.append(slot, records)),
      read: reads.read ?? ((slot, range) => log.read(slot, range)),
      readBlob: reads.readBlob ?? ((slot, ref) => log.readBlob(slot, ref)),
      search: (query) => log.search(query),
      sessions: (query) => log.sessions(query),
      delete: (slot) => log.delete(slot),
    },
  };
}

/** A store whose states are read or saved in another way. */
export function withStates(
  parts: DistributedStore,
  other: Partial<Pick<AgentStateStore, "load" | "save" | "list">>,
): DistributedStore {
  const { stateStore } = parts;
  return {
    ...parts,
    stateStore: {
      contract: 1,
      kind: stateStore.kind,
      reach: stateStore.reach,
      fuses: stateStore.fuses,
      inbox: stateStore.inbox,
      keepsCallRecords: stateStore.keepsCallRecords,
      load: async (slot, known) => (other.load ?? stateStore.load.bind(stateStore))(slot, known),
      save: async (slot, write) => (other.save ?? stateStore.save.bind(stateStore))(slot, write),
      delete: (slot) => stateStore.delete(slot),
      list: async (query) => (other.list ?? stateStore.list.bind(stateStore))(query),
      close: () => stateStore.close(),
    },
  };
}
