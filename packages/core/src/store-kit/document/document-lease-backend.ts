import type { Reach } from "../../ports/agent-state-store.js";
import { describeSlot, hashKey, type Slot, slotKey } from "../../slot/slot.js";
import { nodeOf } from "../lease/claim-token.js";
import type {
  Claim,
  EnterAnswer,
  EnterTerms,
  LeaseBackend,
  NodeBeats,
  SeenCall,
} from "../lease/lease-backend.js";
import type { DocumentSource } from "../list-documents.js";
import { enterGate, type GateEntry, leaveGate, renewClaim, seenClaim } from "./gate-document.js";
import type { GateDocuments } from "./gate-documents.js";
import { SharedDocuments } from "./shared-documents.js";

/** Settings of a {@link DocumentLeaseBackend}. */
export interface DocumentLeaseOptions {
  readonly kind: string;
  readonly reach: Reach;
  readonly leaseMs: number;
  /** Time without a heartbeat after which a process may be taken for dead; without it only `leaseMs` counts. */
  readonly nodeTimeoutMs: number | undefined;
}

/** Latest heartbeat of a process. */
interface NodeDocument {
  readonly v: 1;
  readonly beat: number;
}

/**
 * Leases over a compare-and-set client: the queue of a slot is one small document, which stays, empty, when nobody uses the slot.
 *
 * A claim costs a read and a write to enter, and as much to leave. One that waits learns of its turn when its process next looks
 * at the document, or at once when the call before it ran in the same process.
 */
export class DocumentLeaseBackend implements LeaseBackend {
  readonly kind: string;
  readonly reach: Reach;
  readonly leaseMs: number;
  readonly commandTimeoutMs: number;
  readonly nodes: NodeBeats | undefined;
  readonly #gates: GateDocuments;
  readonly #nodes: SharedDocuments<NodeDocument>;
  #ownNode: string | undefined;
  /** Number of commands that took or kept a claim. */
  #kept = 0;

  constructor(source: DocumentSource, gates: GateDocuments, options: DocumentLeaseOptions) {
    this.kind = options.kind;
    this.reach = options.reach;
    this.leaseMs = options.leaseMs;
    this.commandTimeoutMs = source.commandTimeoutMs;
    this.#gates = gates;
    this.#nodes = new SharedDocuments<NodeDocument>(source, {
      suffix: "-node",
      isDocument: ({ beat }) => Number.isInteger(beat),
    });
    const { nodeTimeoutMs } = options;
    this.nodes = nodeTimeoutMs === undefined ? undefined : this.#beats(nodeTimeoutMs);
  }

  async enter(claim: Claim, terms: EnterTerms): Promise<EnterAnswer> {
    const { seen } = this.#gates;
    const { token, callId } = claim;
    const name = slotKey(claim.slot);
    const isStale = (entry: GateEntry): boolean => seen.leftMs(name, entry) <= 0;
    let ahead: readonly GateEntry[] = [];
    const answer = await this.#gates.documents.update(
      name,
      `queueing for ${describeSlot(claim.slot)}`,
      (gate) => {
        const listens = this.#gates.hasListener(name, callId);
        const beat = ++this.#kept;
        const change = enterGate(gate, { token, callId, beat, listens, terms, isStale });
        ahead = change.result.kind === "wait" ? (change.next?.claims ?? []) : [];
        return change;
      },
      terms.deadlineMs,
    );
    if (terms.replaces !== undefined && ahead.every((each) => each.token !== terms.replaces?.token))
      this.#forgetNode(terms.replaces.token);
    if (answer.kind === "granted") this.#gates.wasGranted(name, token);
    if (answer.kind !== "wait") return answer;
    const leftMs = ahead.slice(0, answer.ahead).map((entry) => seen.leftMs(name, entry));
    return { ...answer, dueMs: Math.min(...leftMs) };
  }

  renew({ slot, token }: Claim, deadlineMs: number): Promise<boolean> {
    return this.#gates.documents.update(
      slotKey(slot),
      `renewing the lease on ${describeSlot(slot)}`,
      (gate) => renewClaim(gate, { token, beat: ++this.#kept }),
      deadlineMs,
    );
  }

  leave({ slot, token }: Claim): Promise<void> {
    return this.#gates.documents.update(slotKey(slot), `releasing ${describeSlot(slot)}`, (gate) =>
      leaveGate(gate, token),
    );
  }

  async calls(slot: Slot): Promise<readonly SeenCall[]> {
    const what = `reading the calls of ${describeSlot(slot)}`;
    const gate = await this.#gates.documents.read(slotKey(slot), what);
    return gate?.claims.map((entry) => ({ callId: entry.callId, claim: seenClaim(entry) })) ?? [];
  }

  async watch({ slot, token, callId }: Claim, wake: () => void): Promise<() => void> {
    return this.#gates.watch(slotKey(slot), token, { callId, isHeld: false, wake });
  }

  async close(): Promise<void> {
    this.#gates.close();
    if (this.#ownNode !== undefined)
      await this.#nodes.remove(this.#ownNode, "ending heartbeats").catch(() => undefined);
  }

  #beats(timeoutMs: number): NodeBeats {
    return {
      timeoutMs,
      beat: async (nodeId, count, deadlineMs) => {
        this.#ownNode = hashKey(nodeId);
        const next: NodeDocument = { v: 1, beat: count };
        const change = () => ({ next, result: undefined });
        await this.#nodes.update(this.#ownNode, "sending a heartbeat", change, deadlineMs);
      },
      lastBeat: async (nodeId, deadlineMs) => {
        const what = "reading the heartbeat of another process";
        const found = await this.#nodes.read(hashKey(nodeId), what, deadlineMs);
        return found === null ? null : String(found.beat);
      },
    };
  }

  /** Removes what a dead process cannot remove any more; one that was only slow writes its heartbeat again. */
  #forgetNode(token: string): void {
    const node = nodeOf(token);
    if (node !== undefined)
      this.#nodes.remove(hashKey(node.id), "forgetting a process").catch(() => undefined);
  }
}
