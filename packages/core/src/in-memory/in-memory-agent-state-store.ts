import { z } from "zod";
import { InvalidInputError } from "../errors/errors.js";
import type { JsonObject } from "../json/json.js";
import type { Message } from "../message/message.js";
import { parseOptions } from "../plugin-kit/parse-options.js";
import type {
  AgentStateStore,
  LoadedState,
  Revision,
  SlotPage,
  SlotQuery,
  StateWrite,
} from "../ports/agent-state-store.js";
import type { DistributedStore } from "../ports/distributed-store.js";
import { checkSlot, type Slot, slotText } from "../slot/slot.js";
import {
  applyWrite,
  leaseLost,
  type MessageWrite,
  refuseFusedParts,
  stateConflict,
} from "../store-kit/apply-write.js";
import { checkLimit, matchSlot } from "../store-kit/check-query.js";
import { nextRevision, type OpLedger, revisionOfOp, withOp } from "../store-kit/revision.js";
import { InMemoryConversationLog } from "./in-memory-conversation-log.js";
import { InMemoryKeyValueStore } from "./in-memory-key-value-store.js";
import { InMemorySignalBus } from "./in-memory-signal-bus.js";
import { InProcessSessionGate, LoadingGate } from "./in-process-gate.js";

/** Options of an {@link InMemoryAgentStateStore}. */
export interface InMemoryStoreOptions {
  /**
   * Fuses gate and log into `save`, as the stores for several nodes do; `false` makes a store that cannot, for tests.
   * @default true
   */
  readonly fused?: boolean | undefined;
  /** Clock for the listing's `updatedAt`. @default the system's clock */
  readonly clock?: (() => Date) | undefined;
}

const optionsSchema = z.strictObject({
  fused: z.boolean().optional(),
  clock: z
    .custom<() => Date>((value) => typeof value === "function", "a function that returns a Date")
    .optional(),
});

/** State as JSON text per message, so that the cost of a save grows with the change. Replaced as a whole, never edited. */
interface StoredState {
  readonly slot: Slot;
  readonly revision: Revision;
  readonly ops: OpLedger;
  readonly head: string;
  readonly messages: readonly string[];
  readonly updatedAt: string;
  /** Position in the order of all saves, by which listings are sorted. */
  readonly position: number;
}

/**
 * Keeps states for as long as this object lives: the reference store, for tests and for agents that need no persistence.
 *
 * - Everything is kept as JSON text, so that callers share no references with the store and tests see what a real store
 *   returns.
 * - `close` does nothing: the states stay readable.
 * - A listing that continues from a cursor shows no session twice; it misses one that is saved between two pages.
 *
 * @example
 * const store = new InMemoryAgentStateStore();
 */
export class InMemoryAgentStateStore implements AgentStateStore {
  readonly contract = 1;
  readonly kind = "memory";
  readonly reach = "process";
  readonly fuses: AgentStateStore["fuses"];
  readonly #clock: () => Date;
  /** States in the order of their last save, oldest first. */
  readonly #states = new Map<string, StoredState>();
  readonly #gate = new InProcessSessionGate();
  readonly #log = new InMemoryConversationLog();
  readonly #companions: DistributedStore;
  #saves = 0;

  constructor(options: InMemoryStoreOptions = {}) {
    const { fused = true, clock = () => new Date() } = parseOptions(
      optionsSchema,
      options,
      "InMemoryAgentStateStore",
    );
    this.#clock = clock;
    const gate = fused
      ? new LoadingGate(this.#gate, (slot, known) => this.#read(slot, known))
      : this.#gate;
    this.fuses = fused ? { gate, log: this.#log } : undefined;
    this.#companions = {
      stateStore: this,
      log: this.#log,
      keyValue: new InMemoryKeyValueStore(),
      gate,
      signals: new InMemorySignalBus(),
    };
  }

  async load(slot: Slot, known?: Revision): Promise<LoadedState | "unchanged" | null> {
    return this.#read(slot, known);
  }

  async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const owner = checkSlot(slot);
    const key = slotText(owner);
    const stored = this.#states.get(key);
    const { op, expected, lease } = write;
    const repeated = revisionOfOp(stored?.ops ?? [], op);
    if (repeated !== undefined) return repeated;
    if (this.fuses === undefined) refuseFusedParts(owner, write);
    if (lease !== undefined && !this.#gate.isHeldBy(owner, lease)) throw leaseLost(owner);
    const current = stored?.revision ?? null;
    if (current !== expected) throw stateConflict(owner, expected, current);

    const revision = write.revision ?? nextRevision(current);
    const state: StoredState = {
      slot: owner,
      revision,
      ops: withOp(stored?.ops ?? [], op, revision),
      head: JSON.stringify(write.head),
      messages: applyWrite(stored?.messages ?? [], asTexts(write), owner),
      updatedAt: this.#clock().toISOString(),
      position: ++this.#saves,
    };
    const appendLog = write.log && this.#log.stage(owner, write.log);
    // Nothing from here on can fail: state, log and lease change together.
    this.#states.delete(key);
    this.#states.set(key, state);
    appendLog?.();
    if (lease !== undefined && write.release) this.#gate.release(owner, lease);
    return revision;
  }

  async delete(slot: Slot): Promise<boolean> {
    return this.#states.delete(slotText(checkSlot(slot)));
  }

  async list(query: SlotQuery = {}): Promise<SlotPage> {
    const limit = checkLimit(query.limit, 100);
    const matches = matchSlot(query);
    const before = query.cursor === undefined ? Number.POSITIVE_INFINITY : readCursor(query.cursor);
    const found = [...this.#states.values()].filter(
      (state) => state.position < before && matches(state.slot),
    );
    const page = found.reverse().slice(0, limit);
    const slots = page.map(({ slot, updatedAt, messages }) => ({
      slot: { ...slot },
      updatedAt,
      messages: messages.length,
    }));
    return found.length > limit ? { slots, cursor: String(page.at(-1)?.position) } : { slots };
  }

  companions(): DistributedStore {
    return this.#companions;
  }

  async close(): Promise<void> {}

  #read(slot: Slot, known?: Revision): LoadedState | "unchanged" | null {
    const state = this.#states.get(slotText(checkSlot(slot)));
    if (state === undefined) return null;
    if (state.revision === known) return "unchanged";
    return {
      revision: state.revision,
      head: JSON.parse(state.head) as JsonObject,
      messages: state.messages.map((message) => JSON.parse(message) as Message),
    };
  }
}

function asTexts({ keep, replace, append }: StateWrite): MessageWrite<string> {
  return {
    keep,
    replace: replace.map(([index, message]) => [index, JSON.stringify(message)]),
    append: append.map((message) => JSON.stringify(message)),
  };
}

function readCursor(cursor: string): number {
  const position = Number(cursor);
  if (!Number.isSafeInteger(position))
    throw new InvalidInputError("the cursor does not come from a listing of this store");
  return position;
}
