import { parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { nodeTimeout } from "@holdfast/core/store-kit";
import type { RedisClient } from "./connection/redis-client.js";

/** Options of every part of this package. */
export interface RedisPartOptions {
  /**
   * An ioredis client (standalone, Sentinel or `Cluster`) or one of `redis` (node-redis). It belongs to the caller and is not
   * used for commands: these go over separate connections, made with its settings and safe options.
   */
  readonly client: RedisClient;
  /** First part of every key and channel; no braces. @default "holdfast:" */
  readonly keyPrefix?: string | undefined;
  /** Longest time until a command ends, with or without success. @default 5_000 */
  readonly commandTimeoutMs?: number | undefined;
}

/** Options of stores whose entries may expire. */
export interface RedisStoreOptions extends RedisPartOptions {
  /** A session and its log expire when it was neither loaded nor saved for this long. @default never */
  readonly ttlMs?: number | undefined;
  /**
   * Number of replicas that must have a save before it is acknowledged. With 0 a failover may lose acknowledged saves, which
   * is detected and reported but cannot be undone. @default 0
   */
  readonly minReplicas?: number | undefined;
}

/** Options of the gate and of everything that has one. */
export interface RedisLeaseOptions {
  /** A lease that could not be renewed for this long is lost; it is renewed three times as often. @default 30_000 */
  readonly leaseMs?: number | undefined;
  /**
   * Calls that wait take over what a process holds that has not been heard of for this long. Less than `leaseMs`, and longer
   * than the process's event loop is ever blocked. @default 4_000, none with a `leaseMs` of at most that
   */
  readonly nodeTimeoutMs?: number | undefined;
}

/** All options with defaults filled in; each part reads the ones it accepts. */
export interface ResolvedOptions {
  readonly client: RedisClient;
  readonly keyPrefix: string;
  readonly commandTimeoutMs: number;
  readonly ttlMs: number | undefined;
  readonly minReplicas: number;
  readonly leaseMs: number;
  readonly nodeTimeoutMs: number | undefined;
}

const wholeMs = s.int().positive();

const schema = s.strictObject({
  client: s.custom<RedisClient>(
    (value) => typeof value === "object" && value !== null,
    "a client of ioredis or redis (node-redis)",
  ),
  keyPrefix: s
    .string()
    .regex(/^[^{}]*$/, "a text without braces")
    .default("holdfast:"),
  commandTimeoutMs: wholeMs.default(5_000),
  ttlMs: wholeMs.optional(),
  minReplicas: s.int().nonnegative().default(0),
  leaseMs: wholeMs.min(100).default(30_000),
  nodeTimeoutMs: wholeMs.min(100).optional(),
});

/**
 * Parses the options of `where`; only those in `accepts` may be given.
 *
 * @throws ConfigurationError
 */
export function readOptions(
  where: string,
  options: object,
  accepts: readonly (keyof ResolvedOptions)[],
): ResolvedOptions {
  const parsed = parseOptions(schema, options, where, accepts);
  return { ttlMs: undefined, ...parsed, nodeTimeoutMs: nodeTimeout(where, parsed) };
}
