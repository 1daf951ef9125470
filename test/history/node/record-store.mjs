// Records what a store does for its node: leases as they are granted and given back, and every save before it is sent. The
// store's own objects are kept, since the engine sends log and lease along with a save only to parts that belong together.
import { AsyncLocalStorage } from "node:async_hooks";
import { textOf } from "@holdfast/core";
import { nextRevision } from "@holdfast/core/store-kit";

/**
 * Operation that an asynchronous flow belongs to, and the lease it was granted.
 *
 * @type {AsyncLocalStorage<{ op: string, fail?: boolean, lease: import("@holdfast/core/store-kit").Lease | undefined }>}
 */
export const flow = new AsyncLocalStorage();

/**
 * @param {import("@holdfast/core").DistributedStore} store
 * @param {import("./trace-file.mjs").TraceFile} trace
 * @param {import("./crash-points.mjs").CrashPoints} points
 */
export function recordStore(store, trace, points) {
  recordGate(store.gate, trace, points);
  recordSaves(store.stateStore, trace, points);
  recordLog(store.log, points);
}

function recordGate(gate, trace, points) {
  const acquire = gate.acquire.bind(gate);
  gate.acquire = async (slot, request) => {
    const lease = await acquire(slot, request);
    const { sessionId: s } = slot;
    const of = flow.getStore();
    if (of !== undefined) of.lease = lease;
    trace.add({ e: "granted", s, op: of?.op, callId: request.callId, token: lease.token });
    const release = lease.release.bind(lease);
    lease.release = (...args) => {
      trace.add({ e: "released", s, token: lease.token });
      return release(...args);
    };
    points.reach("granted");
    return lease;
  };
}

function recordSaves(stateStore, trace, points) {
  /** Revisions by `op`: a save that is repeated must produce the same one. @type {Map<string, string>} */
  const revisions = new Map();
  const save = stateStore.save.bind(stateStore);
  stateStore.save = async (slot, write) => {
    const { sessionId: s } = slot;
    const { op, expected, keep } = write;
    const revision = write.revision ?? revisions.get(op) ?? nextRevision(expected);
    revisions.set(op, revision);
    const replace = write.replace.map(([index, message]) => [index, message.id]);
    const append = write.append.map(briefMessage);
    const token = flow.getStore()?.lease?.token;
    trace.add({ e: "save", s, op, expected, revision, keep, replace, append, token });
    points.reach("before-save");
    try {
      const saved = await save(slot, { ...write, revision });
      trace.add({ e: "saved", s, op, revision: saved });
      points.reach("after-save");
      return saved;
    } catch (error) {
      trace.add({ e: "save-failed", s, op, code: error.code });
      throw error;
    }
  };
}

/** Only a log that is not written with the state is written by itself. */
function recordLog(log, points) {
  const append = log.append.bind(log);
  log.append = async (slot, records) => {
    points.reach("before-log");
    await append(slot, records);
    points.reach("after-log");
  };
}

function briefMessage(message) {
  const { id, role, content } = message;
  const results = content.flatMap((block) =>
    block.type === "tool_result"
      ? [{ id: block.toolCallId, state: block.state, text: textOf({ content: block.output }) }]
      : [],
  );
  const calls = content.flatMap((block) => (block.type === "tool_call" ? [block.id] : []));
  return { id, role, text: textOf(message), calls, results };
}
