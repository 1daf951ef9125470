import { type SignalBus, type Slot, StateTooLargeError } from "@holdfast/core";
import {
  checkId,
  checkSlot,
  describeSlot,
  type ListenOptions,
  MAX_VALUE_BYTES,
  type Signal,
  type Subscription,
  uuidv7,
} from "@holdfast/core/store-kit";
import { connect, type RedisConnection } from "../connection/redis-connection.js";
import { NodeChannel } from "../gate/node-channel.js";
import type { RedisSessionGate } from "../gate/redis-session-gate.js";
import { gateKeys } from "../keys.js";
import {
  type RedisLeaseOptions,
  type RedisPartOptions,
  type ResolvedOptions,
  readOptions,
} from "../options.js";
import { CallListener } from "./call-listeners.js";
import { CallRegistration } from "./call-registration.js";
import { sendScript } from "./signal-scripts.js";

/** Options of {@link RedisSignalBus}. A listener not heard of for `leaseMs` counts no more. */
export interface RedisSignalBusOptions
  extends RedisPartOptions,
    Pick<RedisLeaseOptions, "leaseMs"> {}

/** Parts of a store that its bus uses. */
export interface SharedBus {
  readonly connection: RedisConnection;
  readonly gate: RedisSessionGate;
}

/**
 * Carries signals between nodes: left beside the call they are meant for, announced by message, and found at the next
 * heartbeat when the message is lost.
 *
 * Contract, beyond {@link SignalBus}'s:
 * - A listener gets a signal once, however often it was sent or announced.
 * - A signal is bound to one run of a call and goes with it; another run under the same call id does not get it.
 * - A call that enters the gate of the same store needs no round trip to listen, and is reached from when it queues.
 * - A signal is at most 1 MB as JSON.
 *
 * @example
 * const signals = new RedisSignalBus({ client: new Redis() });
 */
export class RedisSignalBus implements SignalBus {
  readonly contract = 1;
  readonly kind = "redis";
  readonly reach = "distributed";
  readonly #options: ResolvedOptions;
  readonly #connection: RedisConnection;
  readonly #gate: RedisSessionGate | undefined;
  readonly #node: NodeChannel;
  readonly #registrations = new Set<CallRegistration>();

  /**
   * @param shared - parts of the store this is the bus of; without them the bus makes its own connection
   * @throws ConfigurationError
   */
  constructor(options: RedisSignalBusOptions, shared?: SharedBus) {
    this.#options = readOptions("RedisSignalBus", options, [
      "client",
      "keyPrefix",
      "leaseMs",
      "commandTimeoutMs",
    ]);
    this.#gate = shared?.gate;
    this.#connection = shared?.connection ?? connect(this.#options.client, this.#options);
    this.#node =
      shared?.gate.backend.node ?? new NodeChannel(this.#connection, this.#options.keyPrefix);
  }

  async send(slot: Slot, callId: string, signal: Signal): Promise<boolean> {
    const owner = checkSlot(slot);
    const text = JSON.stringify(signal);
    const bytes = Buffer.byteLength(text, "utf8");
    if (bytes > MAX_VALUE_BYTES)
      throw new StateTooLargeError(
        `a signal to a call of ${describeSlot(owner)} takes ${bytes} bytes as JSON; at most ${MAX_VALUE_BYTES} are accepted`,
      );
    const reply = await this.#connection.run(
      `signalling a call of ${describeSlot(owner)}`,
      sendScript,
      gateKeys(this.#options.keyPrefix, owner),
      [checkId(callId, "callId"), uuidv7(), text],
    );
    return Array.isArray(reply) && reply[1] !== 0;
  }

  async listen(
    slot: Slot,
    callId: string,
    handler: (signal: Signal) => void,
    options: ListenOptions = {},
  ): Promise<Subscription> {
    const owner = checkSlot(slot);
    const call = checkId(callId, "callId");
    const listener = new CallListener(handler);
    if (this.#gate !== undefined && options.enters === this.#gate) {
      const { listeners } = this.#gate.backend;
      listeners.add(owner, call, listener);
      return subscription(listener, async () => listeners.remove(owner, call, listener));
    }
    const { keyPrefix, leaseMs } = this.#options;
    const origin = { connection: this.#connection, node: this.#node, keyPrefix, leaseMs };
    const registration = new CallRegistration(origin, owner, call, listener);
    this.#registrations.add(registration);
    const end = (): Promise<void> => {
      this.#registrations.delete(registration);
      return registration.close();
    };
    try {
      await registration.open();
    } catch (error) {
      void end();
      throw error;
    }
    return subscription(listener, end);
  }

  /** Ends all listening outside the gate, and the connections made here. */
  async close(): Promise<void> {
    const registrations = [...this.#registrations];
    this.#registrations.clear();
    await Promise.all(registrations.map((registration) => registration.close()));
    if (this.#gate !== undefined) return;
    await this.#node.close();
    await this.#connection.close();
  }
}

function subscription(listener: CallListener, end: () => Promise<void>): Subscription {
  let ended: Promise<void> | undefined;
  return {
    close() {
      listener.close();
      ended ??= end();
      return ended;
    },
  };
}
