import { LeaseLostError } from "@holdfast/core";
import { describeSlot, type Lease, type LoadedState } from "@holdfast/core/store-kit";
import { Heartbeat } from "./heartbeat.js";
import type { Caller, LineCommands } from "./line-commands.js";
import type { Receiver } from "./node-channel.js";
import type { SentSignal } from "./sent-signal.js";

/** Soonest repetition of a sign of life that did not get through. */
const RETRY_MS = 200;

/** Where a lease came from. */
export interface LeaseOrigin {
  readonly caller: Caller;
  readonly commands: LineCommands;
  /** When the command that took it was sent, by this process's steady clock. */
  readonly takenAt: number;
  readonly loaded: LoadedState | "unchanged" | null | undefined;
  hear(signals: readonly SentSignal[]): void;
  /** Called once when it is over, given back or lost. */
  onEnd(): void;
}

/**
 * The right to run a slot, kept by signs of life a third of `leaseMs` apart.
 *
 * `lost` aborts when the slot is somebody else's, and also when no sign of life was answered for `leaseMs`, counted by this
 * process's own steady clock from when it was sent: then the server may have given the slot away. A process that was
 * stopped finds that out when it goes on: at the latest when it looks at `lost`.
 */
export class RedisLease implements Lease, Receiver {
  readonly token: string;
  readonly loaded: LoadedState | "unchanged" | null | undefined;
  readonly #origin: LeaseOrigin;
  readonly #lost = new AbortController();
  readonly #heartbeat = new Heartbeat(() => this.#renew());
  #renewedAt: number;
  #isOver = false;
  #released: Promise<void> | undefined;

  constructor(origin: LeaseOrigin) {
    this.#origin = origin;
    this.token = origin.caller.token;
    this.loaded = origin.loaded;
    this.#renewedAt = origin.takenAt;
    this.#heartbeat.schedule(this.#leaseMs / 3);
  }

  get lost(): AbortSignal {
    // A process that stood still learns it here, also before its timers have run.
    this.#hasRunOut();
    return this.#lost.signal;
  }

  release(): Promise<void> {
    this.#released ??= this.#giveBack();
    return this.#released;
  }

  /** A save that was sent at `savedAt` gave it back. */
  wasReleased(savedAt: number): void {
    this.#end();
    // A sign of life that arrived behind the save has taken the lease again.
    if (this.#heartbeat.wasBusySince(savedAt)) void this.release();
    else this.#released ??= this.#heartbeat.stop();
  }

  /** Ends it without giving it back: nobody can keep it any more. */
  abandon(): void {
    this.#lose("its gate was closed");
  }

  onWake(): void {}

  onSignal(id: string, text: string): void {
    this.#origin.hear([{ id, text }]);
  }

  onGap(): void {
    this.#heartbeat.poke();
  }

  get #leaseMs(): number {
    return this.#origin.commands.leaseMs;
  }

  async #renew(): Promise<number> {
    const { commands, caller } = this.#origin;
    const sentAt = performance.now();
    if (this.#hasRunOut()) return 0;
    const leftMs = this.#renewedAt + this.#leaseMs - sentAt;
    let isKept = false;
    try {
      const signals = await commands.renew(caller, Math.min(leftMs, commands.commandTimeoutMs));
      isKept = signals !== null;
      if (this.#isOver) return 0;
      if (signals === null) this.#lose("another call has the session");
      else {
        this.#renewedAt = sentAt;
        this.#origin.hear(signals);
      }
    } catch {
      // Tried again until the lease has run out.
    }
    if (this.#hasRunOut()) return 0;
    return isKept ? this.#leaseMs / 3 : Math.min(RETRY_MS, this.#leaseMs / 3);
  }

  #hasRunOut(): boolean {
    if (performance.now() - this.#renewedAt >= this.#leaseMs)
      this.#lose(`this process gave no sign of life for ${this.#leaseMs} ms`);
    return this.#isOver;
  }

  async #giveBack(): Promise<void> {
    const { commands, caller } = this.#origin;
    this.#end();
    await this.#heartbeat.stop();
    try {
      await commands.leave(caller.slot, this.token);
    } catch {
      // It ends by itself when nobody renews it; others wait until then.
    }
  }

  #lose(why: string): void {
    if (this.#isOver) return;
    this.#end();
    const where = describeSlot(this.#origin.caller.slot);
    this.#lost.abort(
      new LeaseLostError(
        `the lease on ${where} ended before its call did: ${why}; repeat the call`,
      ),
    );
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    void this.#heartbeat.stop();
    this.#origin.onEnd();
  }
}
