import {
  type AgentStateStore,
  LeaseLostError,
  type Revision,
  type SessionInfo,
  type Slot,
  type SlotPage,
  type SlotQuery,
  StateConflictError,
  StateCorruptError,
  StoreUnavailableError,
} from "@holdfast/core";
import {
  applyWrite,
  type CallRecord,
  checkId,
  checkSlot,
  describeSlot,
  type LoadedState,
  listedInfo,
  matchInfo,
  nextRevision,
  REMEMBERED_OPS,
  type StateWrite,
  slotText,
  withCallRecord,
} from "@holdfast/core/store-kit";
import { ReferenceGate } from "./reference-gate.js";
import { ReferenceInbox } from "./reference-inbox.js";
import { ReferenceLog } from "./reference-log.js";

/** Session in a listing. */
export interface ListedSession {
  readonly slot: Slot;
  info: SessionInfo | undefined;
  savedAt: number;
  readonly createdAt: number;
}

/** Stored form of a state. */
export interface StoredState extends ListedSession {
  /** Head, messages and call records as JSON text. */
  body: string;
  revision: Revision;
  ops: { op: string; revision: Revision }[];
}

/** The data that several instances share. */
export class ReferenceBackend {
  readonly states: Map<string, StoredState> = new Map();
  readonly log: ReferenceLog = new ReferenceLog();
  readonly inbox: ReferenceInbox;
  readonly gate: ReferenceGate;
  /** Number of saves and first inputs so far, the clock of listings. */
  saves = 0;
  broken = false;

  constructor(Inbox: typeof ReferenceInbox = ReferenceInbox, Gate = ReferenceGate) {
    this.inbox = new Inbox(
      () => this.connect(),
      () => ++this.saves,
    );
    this.gate = new Gate({
      load: (slot) => {
        const stored = this.states.get(slotText(slot));
        return stored === undefined
          ? null
          : { revision: stored.revision, ...JSON.parse(stored.body) };
      },
      put: (slot, entry) => this.inbox.add(slot, entry),
      entries: (slot) => this.inbox.entries(slot),
      drop: (slot, ids) => this.inbox.drop(slot, ids),
    });
  }

  async connect(): Promise<void> {
    await new Promise(setImmediate);
    if (this.broken) throw new StoreUnavailableError("the reference backend was broken");
  }
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
  readonly inbox: ReferenceInbox;
  readonly keepsCallRecords = true;

  constructor(backend = new ReferenceBackend()) {
    this.backend = backend;
    this.inbox = backend.inbox;
    this.fuses = { gate: backend.gate, log: backend.log };
  }

  async load(slot: Slot, known?: Revision): Promise<LoadedState | "unchanged" | null> {
    const key = this.keyOf(checkSlot(slot));
    await this.connect();
    const stored = this.backend.states.get(key);
    if (stored === undefined) return null;
    if (stored.revision === known) return "unchanged";
    return { revision: stored.revision, ...this.parse(stored.body), ...this.loadedInfo(stored) };
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
    const before = stored && this.parse(stored.body);
    const body = {
      head: given.head,
      messages: this.apply(before?.messages ?? [], given),
      callRecords: this.recordsAfter(before?.callRecords ?? [], given),
    };
    const revision = given.revision ?? nextRevision(stored?.revision ?? null);
    this.backend.states.set(key, {
      slot: checkSlot(slot),
      body: JSON.stringify(body),
      info: this.infoAfter(stored?.info, given),
      revision,
      savedAt: ++this.backend.saves,
      createdAt: stored?.createdAt ?? this.inbox.heard.get(key)?.at ?? this.backend.saves,
      ops: [...(stored?.ops ?? []), { op: given.op, revision }].slice(-REMEMBERED_OPS),
    });
    this.take(slot, given);
    this.backend.log.add(slot, given.log ?? []);
    if (given.release) this.backend.gate.releaseToken(slot, given.lease as string);
    return revision;
  }

  async delete(slot: Slot): Promise<boolean> {
    const key = this.keyOf(checkSlot(slot));
    await this.connect();
    this.emptyInbox(slot);
    return this.backend.states.delete(key);
  }

  async list(query: SlotQuery = {}): Promise<SlotPage> {
    if (query.agentId !== undefined) checkId(query.agentId, "agentId");
    if (query.userId !== undefined && query.userId !== null) checkId(query.userId, "userId");
    await this.connect();
    const { limit = 100, cursor = Number.POSITIVE_INFINITY } = query;
    const rest = [...this.backend.states.values(), ...this.neverSaved()]
      .filter((stored) => this.isWanted(stored, query) && this.placeOf(stored) < Number(cursor))
      .sort((a, b) => this.placeOf(b) - this.placeOf(a));
    const page = rest.slice(0, limit);
    const last = page.at(-1);
    const slots = page.map((stored) => ({
      slot: stored.slot,
      updatedAt: new Date(stored.savedAt).toISOString(),
      info: this.infoOf(stored),
    }));
    return last && rest.length > limit ? { slots, cursor: `${this.placeOf(last)}` } : { slots };
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

  protected recordsAfter(stored: readonly CallRecord[], write: StateWrite): readonly CallRecord[] {
    const { callRecord } = write;
    return callRecord ? withCallRecord(stored, callRecord.record, callRecord.keep) : stored;
  }

  protected infoAfter(stored: SessionInfo | undefined, write: StateWrite): SessionInfo | undefined {
    return write.info ?? stored;
  }

  protected loadedInfo({ info }: StoredState): Pick<LoadedState, "info"> {
    return info === undefined ? {} : { info };
  }

  /** Sessions whose first call has not saved anything yet. */
  protected neverSaved(): ListedSession[] {
    return [...this.backend.inbox.heard]
      .filter(([key]) => !this.backend.states.has(key))
      .map(([, { slot, at }]) => ({ slot, info: undefined, savedAt: at, createdAt: at }));
  }

  protected infoOf({ slot, info }: ListedSession): SessionInfo | undefined {
    const hasInput = this.backend.inbox.entries(slot).some(({ kind }) => kind === "input");
    return listedInfo(info, hasInput);
  }

  protected take(slot: Slot, write: StateWrite): void {
    this.backend.inbox.drop(slot, write.takes ?? []);
  }

  protected emptyInbox(slot: Slot): void {
    this.backend.inbox.empty(slot);
  }

  /** Place in listings, newest first: a save does not change it. */
  protected placeOf({ createdAt }: ListedSession): number {
    return createdAt;
  }

  protected async connect(): Promise<void> {
    await this.backend.connect();
  }

  private isWanted(stored: ListedSession, query: SlotQuery): boolean {
    const { agentId, userId } = query;
    if (agentId !== undefined && stored.slot.agentId !== agentId) return false;
    if (userId !== undefined && stored.slot.userId !== userId) return false;
    return matchInfo(query)(this.infoOf(stored));
  }

  private parse(body: string): Omit<LoadedState, "revision"> {
    try {
      return JSON.parse(body);
    } catch {
      throw new StateCorruptError("what is stored is not JSON");
    }
  }
}
