import { type DistributedStore, InMemoryAgentStateStore } from "@holdfast/core";

/**
 * A store of a test's own.
 *
 * @param fused - whether a save takes log records along
 */
export function memoryParts(fused = true): DistributedStore {
  return new InMemoryAgentStateStore({ fused }).companions();
}

/** A store whose log is read in another way. */
export function withLogReads(
  parts: DistributedStore,
  reads: Partial<Pick<DistributedStore["log"], "read" | "readBlob">>,
): DistributedStore {
  const { log } = parts;
  return {
    ...parts,
    log: {
      contract: 1,
      kind: log.kind,
      reach: log.reach,
      append: (slot, records) => log.append(slot, records),
      read: reads.read ?? ((slot, range) => log.read(slot, range)),
      readBlob: reads.readBlob ?? ((slot, ref) => log.readBlob(slot, ref)),
      search: (query) => log.search(query),
      sessions: (query) => log.sessions(query),
      delete: (slot) => log.delete(slot),
    },
  };
}
