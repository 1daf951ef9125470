import type { Reach, SessionGate, Slot } from "@holdfast/core";
import type { AcquireRequest, Lease, LoadedState } from "@holdfast/core/store-kit";
import { checkSlot } from "@holdfast/core/store-kit";
import type { KeyRing } from "./key-ring.js";
import { openState } from "./sealed-state.js";

/** Gate whose leases carry the decrypted state. */
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
    return new EncryptedLease(await this.#inner.acquire(owner, request), (loaded) =>
      openState(this.#ring, owner, loaded),
    );
  }

  calls(slot: Slot): Promise<readonly string[]> {
    return this.#inner.calls(slot);
  }
}

class EncryptedLease implements Lease {
  readonly #inner: Lease;
  readonly #open: (loaded: LoadedState) => LoadedState;
  #opened: LoadedState | undefined;

  constructor(inner: Lease, open: (loaded: LoadedState) => LoadedState) {
    this.#inner = inner;
    this.#open = open;
  }

  get token(): string {
    return this.#inner.token;
  }

  get lost(): AbortSignal {
    return this.#inner.lost;
  }

  /** State, decrypted on first access: deleting a session must not fail because of its contents. */
  get loaded(): Lease["loaded"] {
    const { loaded } = this.#inner;
    if (typeof loaded !== "object" || loaded === null) return loaded;
    this.#opened ??= this.#open(loaded);
    return this.#opened;
  }

  release(): Promise<void> {
    return this.#inner.release();
  }
}
