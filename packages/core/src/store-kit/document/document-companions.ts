import type { Reach } from "../../ports/agent-state-store.js";
import type { DistributedStore } from "../../ports/distributed-store.js";
import { LeaseGate } from "../lease/lease-gate.js";
import type { DocumentSource } from "../list-documents.js";
import { DocumentConversationLog } from "./document-conversation-log.js";
import { DocumentKeyValueStore } from "./document-key-value-store.js";
import { DocumentLeaseBackend } from "./document-lease-backend.js";
import { DocumentSignalBus } from "./document-signal-bus.js";
import { GateDocuments } from "./gate-documents.js";

/** Settings of the parts that `documentStore` keeps beside the states. */
export interface DocumentCompanionOptions {
  readonly kind: string;
  readonly reach: Reach;
  readonly clock: () => Date;
  readonly leaseMs: number;
  readonly nodeTimeoutMs: number | undefined;
  readonly pollMs: number;
  readonly searchMs: number;
}

/** Gate, signals, log and values over one client. */
export interface DocumentCompanions {
  readonly parts: Omit<DistributedStore, "stateStore">;
  /** Loses the leases still held and ends all listening. */
  close(): Promise<void>;
}

/** Makes the parts that `documentStore` keeps beside the states. */
export function documentCompanions(
  source: DocumentSource,
  options: DocumentCompanionOptions,
): DocumentCompanions {
  const gates = new GateDocuments(source, options);
  const gate = new LeaseGate(new DocumentLeaseBackend(source, gates, options));
  const signals = new DocumentSignalBus(gates, gate, options);
  const log = new DocumentConversationLog(source, options);
  return {
    parts: { gate, signals, log, keyValue: new DocumentKeyValueStore(source, options) },
    async close() {
      await signals.close();
      await gate.close();
    },
  };
}
