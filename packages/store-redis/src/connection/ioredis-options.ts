import type { LineTiming } from "./line.js";

/**
 * What our connections do differently from the caller's client. They never reconnect or repeat by themselves (a new one
 * is made instead), so what was written on one connection is never answered by another.
 */
export function ioredisOptions(timing: LineTiming): Record<string, unknown> {
  return {
    lazyConnect: true,
    connectTimeout: timing.connectMs,
    // The only bound ioredis has for a server that is wedged while its socket stays open.
    socketTimeout: timing.silenceMs,
    commandTimeout: undefined,
    blockingTimeout: undefined,
    disconnectTimeout: 100,
    keepAlive: 5_000,
    noDelay: true,
    retryStrategy: null,
    reconnectOnError: null,
    maxRetriesPerRequest: null,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    enableOfflineQueue: false,
    enableAutoPipelining: false,
    // "LOADING" is an answer we know how to wait out, and INFO may be forbidden.
    enableReadyCheck: false,
    disableClientInfo: true,
    monitor: false,
    readOnly: false,
    stringNumbers: false,
    // Replies have one form on every server.
    protocol: 2,
    replyMapping: "legacy",
    himportFieldsets: undefined,
    scripts: undefined,
  };
}

/** For clients with sentinels besides: always the master, and no sentinel is waited for long. */
export const sentinelOptions: Readonly<Record<string, unknown>> = {
  role: "master",
  sentinelRetryStrategy: null,
  sentinelCommandTimeout: 500,
  // It would print the errors of sentinels that are down.
  failoverDetector: false,
  // INFO tells whether a sentinel that lags behind named a replica.
  enableReadyCheck: true,
};
