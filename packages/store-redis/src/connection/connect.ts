import { linkTo } from "./link-to.js";
import { LinkedConnection } from "./linked-connection.js";
import type { RedisClient } from "./redis-client.js";
import type { RedisConnection } from "./redis-connection.js";
import { SharedConnection, type Shares } from "./shared-connection.js";

/** How {@link connect} connects. */
export interface ConnectOptions {
  /** Longest time until a command ends, one way or the other. */
  readonly commandTimeoutMs: number;
}

const connections = new WeakMap<RedisClient, Map<number, Shares>>();

/**
 * Connections of our own, made like those of `client`. All that is built from one client, with one timeout, shares them;
 * the last one to close ends them.
 *
 * @throws ConfigurationError when `client` is none this package can use
 */
export function connect(client: RedisClient, options: ConnectOptions): RedisConnection {
  const { commandTimeoutMs } = options;
  const ofClient = connections.get(client) ?? new Map<number, Shares>();
  let shares = ofClient.get(commandTimeoutMs);
  if (shares === undefined || shares.connection.isClosed) {
    shares = { connection: new LinkedConnection(linkTo(client), commandTimeoutMs), users: 0 };
    connections.set(client, ofClient.set(commandTimeoutMs, shares));
  }
  return new SharedConnection(shares);
}
