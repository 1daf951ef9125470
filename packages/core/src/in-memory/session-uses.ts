import { type Slot, slotText } from "../slot/slot.js";

/** Dependencies of {@link SessionUses}. */
export interface SessionUsesOptions {
  /** Time without use after which a session expires. */
  readonly ttlMs: number;
  readonly clock: () => Date;
  /** Tells whether a call on the slot runs or waits. */
  isBusy(slot: Slot): boolean;
  /** Removes everything stored for a slot. */
  expire(slot: Slot): void;
}

/** Times at which sessions were last used, least recently used first, so that looking for expired ones costs next to nothing. */
export class SessionUses {
  readonly #options: SessionUsesOptions;
  readonly #uses = new Map<string, { readonly slot: Slot; readonly atMs: number }>();

  constructor(options: SessionUsesOptions) {
    this.#options = options;
  }

  /** Notes that a session is used now. */
  touch(slot: Slot): void {
    const key = slotText(slot);
    this.#uses.delete(key);
    this.#uses.set(key, { slot, atMs: this.#options.clock().getTime() });
  }

  /** Removes every session that has expired; one with a call that runs or waits counts as used now. */
  sweep(): void {
    const { ttlMs, clock, isBusy, expire } = this.#options;
    const nowMs = clock().getTime();
    for (const [key, { slot, atMs }] of this.#uses) {
      if (nowMs - atMs < ttlMs) return;
      if (isBusy(slot)) {
        this.touch(slot);
        continue;
      }
      this.#uses.delete(key);
      expire(slot);
    }
  }
}
