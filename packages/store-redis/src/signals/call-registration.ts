import { randomUUID } from "node:crypto";
import type { Slot } from "@holdfast/core";
import { describeSlot } from "@holdfast/core/store-kit";
import type { RedisConnection } from "../connection/redis-connection.js";
import { Heartbeat } from "../gate/heartbeat.js";
import { leaveScript } from "../gate/line-scripts.js";
import type { NodeChannel, Receiver } from "../gate/node-channel.js";
import { readSignals } from "../gate/sent-signal.js";
import { lineKeys } from "../keys.js";
import type { CallListener } from "./call-listener.js";
import { listenScript } from "./signal-scripts.js";

/** Pause after a sign of life that did not get through. */
const RETRY_MS = 200;

/** Where and how a listener is made known. */
export interface RegistrationOrigin {
  readonly connection: RedisConnection;
  readonly node: NodeChannel;
  readonly keyPrefix: string;
  readonly leaseMs: number;
}

/** A listener that no gate knows of: made known on the server, and kept so by signs of life. */
export class CallRegistration implements Receiver {
  readonly #origin: RegistrationOrigin;
  readonly #slot: Slot;
  readonly #callId: string;
  readonly #listener: CallListener;
  readonly #token = randomUUID();
  readonly #heartbeat = new Heartbeat(() => this.#renew());

  constructor(origin: RegistrationOrigin, slot: Slot, callId: string, listener: CallListener) {
    this.#origin = origin;
    this.#slot = slot;
    this.#callId = callId;
    this.#listener = listener;
  }

  /** Resolves once signals arrive. @throws StoreError */
  async open(): Promise<void> {
    const { node, leaseMs } = this.#origin;
    await node.ready();
    node.receive(this.#token, this);
    await this.#announce();
    this.#heartbeat.schedule(leaseMs / 3);
  }

  /** Withdraws it, also after an `open` that failed; when that does not get through, it counts no more after `leaseMs`. */
  async close(): Promise<void> {
    const { connection, node, keyPrefix } = this.#origin;
    node.forget(this.#token);
    // Behind the sign of life under way, which would bring it back.
    await this.#heartbeat.stop();
    const what = `ending to listen for a call of ${describeSlot(this.#slot)}`;
    await connection
      .run(what, leaveScript, lineKeys(keyPrefix, this.#slot), [this.#token])
      .catch(() => undefined);
  }

  onWake(): void {}

  onSignal(id: string, text: string): void {
    this.#listener.hear([{ id, text }]);
  }

  onGap(): void {
    this.#heartbeat.poke();
  }

  async #renew(): Promise<number> {
    const soonMs = this.#origin.leaseMs / 3;
    return this.#announce().then(
      () => soonMs,
      () => Math.min(RETRY_MS, soonMs),
    );
  }

  async #announce(): Promise<void> {
    const { connection, node, keyPrefix, leaseMs } = this.#origin;
    const reply = await connection.run(
      `listening for a call of ${describeSlot(this.#slot)}`,
      listenScript,
      lineKeys(keyPrefix, this.#slot),
      [this.#token, this.#callId, node.name, leaseMs],
    );
    this.#listener.hear(readSignals(reply));
  }
}
