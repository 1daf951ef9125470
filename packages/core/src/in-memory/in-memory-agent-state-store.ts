import type { JsonObject } from "../json/json.js";
import type { Message } from "../message/message.js";
import { parseOptions } from "../plugin-kit/parse-options.js";
import * as s from "../plugin-kit/schema/index.js";
import type {
  AgentStateStore,
  CallRecord,
  LoadAnswer,
  Revision,
  SessionExpiry,
  SessionInfo,
  SlotInfo,
  SlotPage,
  SlotQuery,
  StateWrite,
} from "../ports/agent-state-store.js";
import type { DistributedStore } from "../ports/distributed-store.js";
import type { Inbox } from "../ports/inbox.js";
import { checkSlot, type Slot } from "../slot/slot.js";
import {
  leaseLost,
  type MessageWrite,
  refuseFusedParts,
  stateConflict,
} from "../store-kit/apply-write.js";
import { listedInfo } from "../store-kit/beside-head.js";
import { changesSince, isForked, messageChange } from "../store-kit/change-ledger.js";
import { checkLimit, matchSlot } from "../store-kit/check-query.js";
import { nextRevision, revisionOfOp } from "../store-kit/revision.js";
import { InMemoryConversationLog } from "./in-memory-conversation-log.js";
import { InMemoryEventFeed } from "./in-memory-event-feed.js";
import { InMemoryInbox } from "./in-memory-inbox.js";
import { InMemoryKeyValueStore } from "./in-memory-key-value-store.js";
import { InMemorySignalBus } from "./in-memory-signal-bus.js";
import { InProcessSessionGate, LoadingGate } from "./in-process-gate.js";
import { pageBySaves } from "./page-by-saves.js";
import { SessionUses } from "./session-uses.js";
import { type ListedSession, type StoredState, savedInfo, stateAfter } from "./stored-state.js";
import { StoredStates } from "./stored-states.js";

/** Options of an {@link InMemoryAgentStateStore}. */
export interface InMemoryStoreOptions {
  /**
   * Fuses gate and log into `save`, as the stores for several nodes do; `false` makes a store that cannot, for tests.
   * @default true
   */
  readonly fused?: boolean | undefined;
  /** Clock for the listing's `updatedAt` and for `ttlMs`. @default the system's clock */
  readonly clock?: (() => Date) | undefined;
  /**
   * A session expires, with its log and its inbox, when it was neither loaded nor saved for this long; never while a call on it
   * runs or waits.
   * @default never
   */
  readonly ttlMs?: number | undefined;
}

const optionsSchema = s.strictObject({
  fused: s.boolean().optional(),
  clock: s
    .custom<() => Date>((value) => typeof value === "function", "a function that returns a Date")
    .optional(),
  ttlMs: s.int().positive().optional(),
});

/** When something came, in the order of all saves and by the clock. */
type Arrival = Pick<ListedSession, "position" | "updatedAt">;

/**
 * Keeps states for as long as this object lives: the reference store, for tests and for agents that need no persistence.
 *
 * - Everything is kept as JSON text, so that callers share no references with the store and tests see what a real store
 *   returns.
 * - `close` does nothing: the states stay readable.
 * - A listing that continues from a cursor shows the sessions that existed when its first page was read; those saved since
 *   then come at the end, some of them for the second time.
 *
 * @example
 * const store = new InMemoryAgentStateStore();
 */
export class InMemoryAgentStateStore implements AgentStateStore {
  readonly contract = 1;
  readonly kind = "memory";
  readonly reach = "process";
  readonly keepsCallRecords = true;
  readonly fuses: AgentStateStore["fuses"];
  readonly inbox: Inbox;
  /** Present with `ttlMs`. */
  readonly expiry: SessionExpiry | undefined;
  readonly #clock: () => Date;
  readonly #states = new StoredStates();
  readonly #inbox = new InMemoryInbox<Arrival>(
    () => this.#arrive(),
    (written) => this.#use(written),
  );
  readonly #gate = new InProcessSessionGate((slot) => this.#use(slot));
  readonly #log = new InMemoryConversationLog((written) => this.#use(written));
  /** Absent when sessions do not expire. */
  readonly #uses: SessionUses | undefined;
  readonly #companions: DistributedStore;
  /** Number of saves, and of inputs that came to an inbox without any. */
  #arrivals = 0;

  constructor(options: InMemoryStoreOptions = {}) {
    const {
      fused = true,
      clock = () => new Date(),
      ttlMs,
    } = parseOptions(optionsSchema, options, "InMemoryAgentStateStore");
    this.#clock = clock;
    this.expiry = ttlMs === undefined ? undefined : { ttlMs };
    this.#uses =
      ttlMs === undefined
        ? undefined
        : new SessionUses({
            ...{ ttlMs, clock },
            isBusy: (slot) => this.#gate.isTaken(slot),
            expire: (slot) => this.#expire(slot),
          });
    this.inbox = this.#inbox;
    const load = (slot: Slot, known?: Revision) => this.#read(slot, known);
    const gate = fused ? new LoadingGate(this.#gate, { load, inbox: this.#inbox }) : this.#gate;
    this.fuses = fused ? { gate, log: this.#log } : undefined;
    this.#companions = {
      stateStore: this,
      log: this.#log,
      keyValue: new InMemoryKeyValueStore(),
      gate,
      signals: new InMemorySignalBus(),
      eventFeed: new InMemoryEventFeed(),
    };
  }

  async load(slot: Slot, known?: Revision): Promise<LoadAnswer> {
    return this.#read(slot, known);
  }

  async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const owner = checkSlot(slot);
    this.#use(owner);
    const stored = this.#states.get(owner);
    const { op, expected, lease } = write;
    const repeated = revisionOfOp(stored?.ops ?? [], op);
    if (repeated !== undefined) return repeated;
    if (this.fuses === undefined) refuseFusedParts(owner, write);
    if (lease !== undefined && !this.#gate.isHeldBy(owner, lease)) throw leaseLost(owner);
    const current = stored?.revision ?? null;
    if (current !== expected) throw stateConflict(owner, expected, current);

    const revision = write.revision ?? nextRevision(current);
    const position = this.#arrivals + 1;
    const state: StoredState = {
      slot: owner,
      ...stateAfter(stored, owner, write, revision),
      updatedAt: this.#clock().toISOString(),
      position,
      firstPosition: stored?.firstPosition ?? this.#inbox.inputSince(owner)?.position ?? position,
    };
    const appendLog = write.log && this.#log.stage(owner, write.log);
    const { takes = [] } = write;
    // Nothing from here on can fail: state, inbox, log and lease change together.
    this.#arrivals = position;
    this.#states.put(state);
    this.#inbox.drop(owner, takes);
    appendLog?.();
    if (lease !== undefined && write.release) this.#gate.release(owner, lease);
    return revision;
  }

  async delete(slot: Slot): Promise<boolean> {
    const owner = checkSlot(slot);
    this.#inbox.empty(owner);
    return this.#states.delete(owner);
  }

  async list(query: SlotQuery = {}): Promise<SlotPage> {
    const limit = checkLimit(query.limit, 100);
    const matches = matchSlot(query);
    this.#use();
    const sessions = query.waiting === true ? this.#states.waiting() : this.#sessions();
    const found = sessions.filter(
      (session) =>
        matches(session.slot) &&
        (query.unfinished !== true || this.#infoOf(session)?.unfinished === true),
    );
    const { page, ...more } = pageBySaves(found, this.#arrivals, { limit, cursor: query.cursor });
    return { slots: page.map((session) => this.#listed(session)), ...more };
  }

  companions(): DistributedStore {
    return this.#companions;
  }

  async close(): Promise<void> {}

  #read(slot: Slot, known?: Revision): LoadAnswer {
    const owner = checkSlot(slot);
    this.#use();
    const state = this.#states.get(owner);
    if (state === undefined) return null;
    this.#uses?.touch(owner);
    if (state.revision === known) return "unchanged";
    const stored = {
      revision: state.revision,
      head: JSON.parse(state.head) as JsonObject,
      callRecords: state.callRecords.map(({ text }) => JSON.parse(text) as CallRecord),
      ...(state.info !== undefined && { info: savedInfo(state) }),
    };
    const { changes, ops } = state;
    const since = known === undefined ? undefined : changesSince(changes, known);
    if (known !== undefined && since !== undefined)
      return { from: known, ...stored, ...parsed(messageChange(state.messages, since)) };
    const saved = ops.map(([, revision]) => revision);
    return {
      ...stored,
      messages: state.messages.map(parseMessage),
      ...(known !== undefined && isForked(changes, known, saved) && { rolledBack: true }),
    };
  }

  /** Removes what has expired, before every command; a slot that is written to counts as used. */
  #use(written?: Slot): void {
    this.#uses?.sweep();
    if (written !== undefined) this.#uses?.touch(written);
  }

  #expire(slot: Slot): void {
    this.#states.delete(slot);
    this.#inbox.empty(slot);
    this.#log.drop(slot);
  }

  #arrive(): Arrival {
    return { position: ++this.#arrivals, updatedAt: this.#clock().toISOString() };
  }

  /** Returns the sessions in the order of their last save; those never saved count from when their input came. */
  #sessions(): ListedSession[] {
    const unsaved = this.#inbox
      .slotsWithInput()
      .filter(({ slot }) => this.#states.get(slot) === undefined)
      .map(({ slot, since }) => ({
        ...{ slot, messages: [], info: undefined },
        ...{ ...since, firstPosition: since.position },
      }));
    const saved = this.#states.all();
    return unsaved.length === 0
      ? saved
      : [...saved, ...unsaved].sort((a, b) => a.position - b.position);
  }

  #listed(session: ListedSession): SlotInfo {
    const { slot, updatedAt, messages } = session;
    const info = this.#infoOf(session);
    const listed = { slot: { ...slot }, updatedAt, messages: messages.length };
    return info === undefined ? listed : { ...listed, info };
  }

  #infoOf(session: ListedSession): SessionInfo | undefined {
    return listedInfo(savedInfo(session), this.#inbox.inputSince(session.slot) !== undefined);
  }
}

function parsed({ keep, replace, append }: MessageWrite<string>): MessageWrite {
  return {
    keep,
    replace: replace.map(([index, text]) => [index, parseMessage(text)]),
    append: append.map(parseMessage),
  };
}

function parseMessage(text: string): Message {
  return JSON.parse(text) as Message;
}
