import { parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { nodeTimeout } from "@holdfast/core/store-kit";
import type { MysqlPool } from "./connection/mysql-pool.js";

/** Options of every part of this package. */
export interface MysqlPartOptions {
  /** A pool of mysql2, with promises or with callbacks. It belongs to the caller, who ends it. */
  readonly pool: MysqlPool;
  /** First part of every table's name: letters, digits and `_`, at most 32. @default "holdfast_" */
  readonly tablePrefix?: string | undefined;
  /** Create and migrate tables on first use; `false` only checks that they exist. @default true */
  readonly migrate?: boolean | undefined;
  /** Longest time until a command ends, waiting for a connection of the pool included. @default 5_000 */
  readonly commandTimeoutMs?: number | undefined;
}

/** Options of stores whose sessions may expire. */
export interface MysqlExpiryOptions {
  /**
   * A session expires, with its log and its inbox, when it was neither loaded nor saved for this long; never while a call on it
   * runs or waits. Every node of the tables should have the same. @default never
   */
  readonly ttlMs?: number | undefined;
}

/** Options of the gate, the signal bus and everything that has them. */
export interface MysqlLeaseOptions {
  /** A lease that could not be renewed for this long is lost; it is renewed three times as often. @default 30_000 */
  readonly leaseMs?: number | undefined;
  /**
   * Calls that wait take over what a process holds that has not been heard of for this long. Less than `leaseMs`, and longer
   * than the process's event loop is ever blocked. @default 4_000, none with a `leaseMs` of at most that
   */
  readonly nodeTimeoutMs?: number | undefined;
  /** Interval at which this process polls for signals to its calls, while it has any. @default 250 */
  readonly signalPollMs?: number | undefined;
}

/** All options with defaults filled in; each part reads the ones it accepts. */
export interface ResolvedOptions {
  readonly pool: MysqlPool;
  readonly tablePrefix: string;
  readonly migrate: boolean;
  readonly commandTimeoutMs: number;
  readonly leaseMs: number;
  readonly nodeTimeoutMs: number | undefined;
  readonly signalPollMs: number;
  readonly ttlMs: number | undefined;
}

/** Options that every part accepts. */
export const partOptions: readonly (keyof ResolvedOptions)[] = [
  "pool",
  "tablePrefix",
  "migrate",
  "commandTimeoutMs",
];

/** Options of the parts that have leases. */
export const leaseOptions: readonly (keyof ResolvedOptions)[] = [
  ...partOptions,
  "leaseMs",
  "nodeTimeoutMs",
  "signalPollMs",
];

/** Options of the state store. */
export const storeOptions: readonly (keyof ResolvedOptions)[] = [...leaseOptions, "ttlMs"];

/** Schema of a table prefix, which must not be able to end a quoted name. */
export const tablePrefixSchema: s.Schema<string> = s
  .string()
  .regex(/^[A-Za-z0-9_]{0,32}$/, "at most 32 letters, digits and _")
  .default("holdfast_");

const wholeMs = s.int().positive();

const schema = s.strictObject({
  pool: s.custom<MysqlPool>(
    (value) =>
      typeof value === "object" &&
      value !== null &&
      "getConnection" in value &&
      typeof value.getConnection === "function",
    "a pool of mysql2, made with createPool",
  ),
  tablePrefix: tablePrefixSchema,
  migrate: s.boolean().default(true),
  commandTimeoutMs: wholeMs.default(5_000),
  leaseMs: wholeMs.min(100).default(30_000),
  nodeTimeoutMs: wholeMs.min(100).optional(),
  signalPollMs: wholeMs.min(10).default(250),
  ttlMs: wholeMs.optional(),
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
