import type {
  AgentStateStore,
  DistributedStore,
  Reach,
  Revision,
  Slot,
  SlotPage,
  SlotQuery,
} from "@holdfast/core";
import type { Inbox, LoadAnswer, StateWrite } from "@holdfast/core/store-kit";
import { checkSlot } from "@holdfast/core/store-kit";
import { EncryptedInbox } from "./encrypted-inbox.js";
import type { KeyRing } from "./key-ring.js";
import { openInfo } from "./sealed-info.js";
import { openAnswer, sealWrite } from "./sealed-state.js";

/** Parts of a store, none of them absent. */
export type StoreParts = Required<{
  readonly [P in keyof DistributedStore]: NonNullable<DistributedStore[P]>;
}>;

/** Wraps a part of a store; returns the same wrapper for the same part. */
export type WrapParts = <P extends keyof StoreParts>(
  part: P,
  inner: StoreParts[P],
) => StoreParts[P];

/** State store whose backend sees nothing but sealed heads, messages, records and entries. */
export class EncryptedStateStore implements AgentStateStore {
  readonly contract: 1;
  /** Differs from the inner kind: code for one kind of store must not mistake this one for it. */
  readonly kind: string;
  readonly reach: Reach;
  readonly fuses: AgentStateStore["fuses"];
  readonly inbox: Inbox | undefined;
  readonly keepsCallRecords: boolean | undefined;
  readonly expiry: AgentStateStore["expiry"];
  readonly companions?: () => DistributedStore;
  readonly #inner: AgentStateStore;
  readonly #ring: KeyRing;

  constructor(inner: AgentStateStore, ring: KeyRing, wrap: WrapParts) {
    this.contract = inner.contract;
    this.kind = `encrypted-${inner.kind}`;
    this.reach = inner.reach;
    this.#inner = inner;
    this.#ring = ring;
    const { gate, log } = inner.fuses ?? {};
    this.fuses = inner.fuses && {
      ...(gate && { gate: wrap("gate", gate) }),
      ...(log && { log: wrap("log", log) }),
    };
    this.inbox = inner.inbox && new EncryptedInbox(inner.inbox, ring);
    this.keepsCallRecords = inner.keepsCallRecords;
    this.expiry = inner.expiry;
    if (inner.companions) this.companions = companionsOf(inner, wrap);
  }

  async load(slot: Slot, known?: Revision): Promise<LoadAnswer> {
    const owner = checkSlot(slot);
    const loaded = await this.#inner.load(owner, known);
    return openAnswer(this.#ring, owner, loaded);
  }

  async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const owner = checkSlot(slot);
    return this.#inner.save(owner, sealWrite(this.#ring, owner, write));
  }

  delete(slot: Slot): Promise<boolean> {
    return this.#inner.delete(slot);
  }

  async list(query?: SlotQuery): Promise<SlotPage> {
    const { slots, ...more } = await this.#inner.list(query);
    const opened = slots.map((listed) => {
      const { slot, info } = listed;
      return info === undefined ? listed : { ...listed, info: openInfo(this.#ring, slot, info) };
    });
    return { slots: opened, ...more };
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

function companionsOf(inner: AgentStateStore, wrap: WrapParts): () => DistributedStore {
  let made: DistributedStore | undefined;
  return () => {
    const parts = inner.companions?.() as DistributedStore;
    made ??= {
      stateStore: wrap("stateStore", parts.stateStore),
      log: wrap("log", parts.log),
      keyValue: wrap("keyValue", parts.keyValue),
      gate: wrap("gate", parts.gate),
      signals: wrap("signals", parts.signals),
      eventFeed: parts.eventFeed && wrap("eventFeed", parts.eventFeed),
    };
    return made;
  };
}
