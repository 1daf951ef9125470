import { LeaseGate } from "@holdfast/core/store-kit";
import { connect, type RedisConnection } from "../connection/redis-connection.js";
import { type RedisLeaseOptions, type RedisPartOptions, readOptions } from "../options.js";
import { type LeaseBackendOptions, RedisLeaseBackend } from "./redis-lease-backend.js";

/** Options of {@link RedisSessionGate}. */
export interface RedisSessionGateOptions extends RedisPartOptions, RedisLeaseOptions {}

/** Parts of a store that its gate uses. */
export interface SharedGate {
  readonly connection: RedisConnection;
  readonly store: LeaseBackendOptions["store"];
}

/**
 * Serialises calls on a slot among all nodes, first come, first served.
 *
 * Contract, beyond that of `SessionGate` and `LeaseGate`:
 * - Time is the server's: leases expire there, and a waiter not heard of for `leaseMs` is passed over. A process not heard of for
 *   `nodeTimeoutMs` gives way to those that wait behind it, by the clocks of these.
 * - The next waiter is woken by a message; a lost one costs at most a third of `leaseMs`.
 * - A slot leaves no key behind.
 * - The gate of a `RedisAgentStateStore` loads state and inbox along with the lease; one made on its own does not.
 *
 * @example
 * const lease = await new RedisSessionGate({ client: new Redis() }).acquire(slot, { callId });
 */
export class RedisSessionGate extends LeaseGate {
  override readonly kind = "redis";
  override readonly reach = "distributed";
  /** @internal */
  readonly backend: RedisLeaseBackend;

  /**
   * @param shared - parts of the store this is the gate of; without them the gate makes its own connection
   * @throws ConfigurationError
   */
  constructor(options: RedisSessionGateOptions, shared?: SharedGate) {
    const resolved = readOptions("RedisSessionGate", options, [
      "client",
      "keyPrefix",
      "leaseMs",
      "nodeTimeoutMs",
      "commandTimeoutMs",
    ]);
    const connection = shared?.connection ?? connect(resolved.client, resolved);
    const backend = new RedisLeaseBackend(
      connection,
      { ...resolved, store: shared?.store },
      async () => {
        if (shared === undefined) await connection.close();
      },
    );
    super(backend);
    this.backend = backend;
  }
}
