import { randomUUID } from "node:crypto";
import type { Slot } from "@holdfast/core";
import { describeSlot, Heartbeat } from "@holdfast/core/store-kit";
import type { RedisConnection } from "../connection/redis-connection.js";
import { leaveScript } from "../gate/gate-scripts.js";
import type { NodeChannel, Receiver } from "../gate/node-channel.js";
import { gateKeys, slotKeys } from "../keys.js";
import { type CallListener, readSignals } from "./call-listeners.js";
import { listenScript } from "./signal-scripts.js";

/** Pause after a heartbeat that failed. */
const RETRY_MS = 200;

/** Place where listeners are registered. */
export interface RegistrationOrigin {
  readonly connection: RedisConnection;
  readonly node: NodeChannel;
  readonly keyPrefix: string;
  readonly leaseMs: number;
}

/** A listener for a call that does not enter this gate: registered on the server, and kept so by heartbeats. */
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
    if (!node.isListening) await node.listen();
    node.receive(this.#token, this);
    await this.#announce();
    this.#heartbeat.schedule(leaseMs / 3);
  }

  /** Withdraws it, also after an `open` that failed; when that does not get through, it counts no more after `leaseMs`. */
  async close(): Promise<void> {
    const { connection, node, keyPrefix } = this.#origin;
    node.forget(this.#token);
    // After the heartbeat under way, which would bring it back.
    await this.#heartbeat.stop();
    const what = `ending to listen for a call of ${describeSlot(this.#slot)}`;
    await connection
      .run(what, leaveScript, slotKeys(keyPrefix, this.#slot), [this.#token, 0])
      .catch(() => undefined);
  }

  wake(): void {
    this.#heartbeat.poke();
  }

  hear(id: string, text: string): void {
    this.#listener.hear([{ id, text }]);
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
      gateKeys(keyPrefix, this.#slot),
      [this.#token, this.#callId, node.name, leaseMs],
    );
    this.#listener.hear(readSignals(reply));
  }
}
