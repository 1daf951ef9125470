import {
  type AgentStateStore,
  LeaseLostError,
  type Revision,
  type Slot,
  type SlotPage,
  type SlotQuery,
  StateConflictError,
  StateCorruptError,
  StoreUnavailableError,
} from "@holdfast/core";
import {
  applyWrite,
  checkId,
  checkSlot,
  describeSlot,
  type LoadedState,
  nextRevision,
  REMEMBERED_OPS,
  type StateWrite,
  slotText,
} from "@holdfast/core/store-kit";
import { ReferenceGate } from "./reference-gate.js";
import { ReferenceLog } from "./reference-log.js";

/** Stored form of a state. */
export interface StoredState {
  readonly slot: Slot;
  /** Head and messages as JSON text. */
  body: string;
  revision: Revision;
  savedAt: number;
  ops: { op: string; revision: Revision }[];
}

/** The data that several instances share. */
export class ReferenceBackend {
  readonly states: Map<string, StoredState> = new Map();
  readonly log: ReferenceLog = new ReferenceLog();
  readonly gate: ReferenceGate = new ReferenceGate((slot) => {
    const stored = this.states.get(slotText(slot));
    return stored === undefined ? null : { revision: stored.revision, ...JSON.parse(stored.body) };
  });
  broken = false;
}

/**
 * The shortest store that keeps the contract. The broken ones of the tests are made by overriding one of its protected
 * methods.
 */
export class ReferenceStore implements AgentStateStore {
  readonly contract = 1;
  readonly kind = "reference";
  readonly reach = "process";
  readonly backend: ReferenceBackend;
  readonly fuses: { gate: ReferenceGate; log: ReferenceLog };

  constructor(backend = new ReferenceBackend()) {
    this.backend = backend;
    this.fuses = { gate: backend.gate, log: backend.log };
  }

  async load(slot: Slot, known?: Revision): Promise<LoadedState | "unchanged" | null> {
    const key = this.keyOf(checkSlot(slot));
    await this.connect();
    const stored = this.backend.states.get(key);
    if (stored === undefined) return null;
    if (stored.revision === known) return "unchanged";
    return { revision: stored.revision, ...this.parse(stored.body) };
  }

  async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const key = this.keyOf(checkSlot(slot));
    const given = this.copy(write);
    await this.connect();
    const stored = this.backend.states.get(key);
    const done = stored?.ops.find(({ op }) => op === given.op);
    if (done !== undefined && this.remembers(done.op)) return done.revision;
    if (given.lease !== undefined && !this.leaseHolds(slot, given.lease))
      throw new LeaseLostError(`the lease on ${describeSlot(slot)} ended; load again`);
    if (this.conflicts(stored?.revision ?? null, given.expected))
      throw new StateConflictError(`${describeSlot(slot)} was saved by another writer; load again`);
    const before = stored === undefined ? [] : this.parse(stored.body).messages;
    const body = { head: given.head, messages: this.apply(before, given) };
    const revision = given.revision ?? nextRevision(stored?.revision ?? null);
    this.backend.states.set(key, {
      slot: checkSlot(slot),
      body: JSON.stringify(body),
      revision,
      savedAt: Date.now(),
      ops: [...(stored?.ops ?? []), { op: given.op, revision }].slice(-REMEMBERED_OPS),
    });
    this.backend.log.add(slot, given.log ?? []);
    if (given.release) this.backend.gate.releaseToken(slot, given.lease as string);
    return revision;
  }

  async delete(slot: Slot): Promise<boolean> {
    const key = this.keyOf(checkSlot(slot));
    await this.connect();
    return this.backend.states.delete(key);
  }

  async list(query: SlotQuery = {}): Promise<SlotPage> {
    if (query.agentId !== undefined) checkId(query.agentId, "agentId");
    if (query.userId !== undefined && query.userId !== null) checkId(query.userId, "userId");
    await this.connect();
    const { limit = 100, cursor = "0" } = query;
    const all = [...this.backend.states.values()].reverse().filter(({ slot }) => {
      if (query.agentId !== undefined && slot.agentId !== query.agentId) return false;
      return query.userId === undefined || slot.userId === query.userId;
    });
    const end = Number(cursor) + limit;
    const slots = all.slice(Number(cursor), end).map(({ slot, savedAt }) => ({
      slot,
      updatedAt: new Date(savedAt).toISOString(),
    }));
    return end < all.length ? { slots, cursor: String(end) } : { slots };
  }

  async close(): Promise<void> {}

  protected keyOf(slot: Slot): string {
    return slotText(slot);
  }

  protected copy(write: StateWrite): StateWrite {
    return JSON.parse(JSON.stringify(write));
  }

  protected apply(stored: LoadedState["messages"], write: StateWrite): LoadedState["messages"] {
    return applyWrite(stored, write);
  }

  protected remembers(_op: string): boolean {
    return true;
  }

  protected conflicts(stored: Revision | null, expected: Revision | null): boolean {
    return stored !== expected;
  }

  protected leaseHolds(slot: Slot, token: string): boolean {
    return this.backend.gate.holds(slot, token);
  }

  protected async connect(): Promise<void> {
    await new Promise(setImmediate);
    if (this.backend.broken) throw new StoreUnavailableError("the reference backend was broken");
  }

  private parse(body: string): Pick<LoadedState, "head" | "messages"> {
    try {
      return JSON.parse(body);
    } catch {
      throw new StateCorruptError("what is stored is not JSON");
    }
  }
}
