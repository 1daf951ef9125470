import type { Reach, SessionGate, Slot } from "@holdfast/core";
import type { AcquireRequest, InboxEntry, Lease, LoadAnswer } from "@holdfast/core/store-kit";
import { checkSlot } from "@holdfast/core/store-kit";
import { openEntries, sealEntry } from "./encrypted-inbox.js";
import type { KeyRing } from "./key-ring.js";
import { openAnswer } from "./sealed-state.js";

/** Gate whose leases carry the decrypted state and inbox. */
export class EncryptedGate implements SessionGate {
  readonly contract: 1;
  readonly kind: string;
  readonly reach: Reach;
  readonly #inner: SessionGate;
  readonly #ring: KeyRing;

  constructor(inner: SessionGate, ring: KeyRing) {
    this.contract = inner.contract;
    this.kind = inner.kind;
    this.reach = inner.reach;
    this.#inner = inner;
    this.#ring = ring;
  }

  /** Returns the inner gate of an encrypted one, which its backend recognises; any other gate is returned unchanged. */
  static innerOf(gate: SessionGate): SessionGate {
    return #inner in gate ? gate.#inner : gate;
  }

  async acquire(slot: Slot, request: AcquireRequest): Promise<Lease> {
    const owner = checkSlot(slot);
    const put = request.put && sealEntry(this.#ring, owner, request.put);
    const lease = await this.#inner.acquire(owner, { ...request, put });
    return new EncryptedLease(lease, {
      state: (loaded) => openAnswer(this.#ring, owner, loaded),
      inbox: (entries) => openEntries(this.#ring, owner, entries),
    });
  }

  calls(slot: Slot): Promise<readonly string[]> {
    return this.#inner.calls(slot);
  }
}

/** Decrypts what comes with a lease. */
interface Openers {
  readonly state: (loaded: LoadAnswer) => LoadAnswer;
  readonly inbox: (entries: readonly InboxEntry[]) => readonly InboxEntry[];
}

class EncryptedLease implements Lease {
  readonly #inner: Lease;
  readonly #open: Openers;
  #opened: LoadAnswer | undefined;
  #entries: readonly InboxEntry[] | undefined;

  constructor(inner: Lease, open: Openers) {
    this.#inner = inner;
    this.#open = open;
  }

  get token(): string {
    return this.#inner.token;
  }

  get lost(): AbortSignal {
    return this.#inner.lost;
  }

  get validUntil(): number {
    return this.#inner.validUntil;
  }

  get confirm(): Lease["confirm"] {
    const { confirm } = this.#inner;
    return confirm && (() => confirm.call(this.#inner));
  }

  /** State, decrypted on first access: deleting a session must not fail because of its contents. */
  get loaded(): Lease["loaded"] {
    const { loaded } = this.#inner;
    if (typeof loaded !== "object" || loaded === null) return loaded;
    this.#opened ??= this.#open.state(loaded);
    return this.#opened;
  }

  /** Inbox, decrypted on first access like the state. */
  get inbox(): Lease["inbox"] {
    const { inbox } = this.#inner;
    if (inbox === undefined) return undefined;
    this.#entries ??= this.#open.inbox(inbox);
    return this.#entries;
  }

  release(drop?: readonly string[]): Promise<void> {
    return this.#inner.release(drop);
  }
}
