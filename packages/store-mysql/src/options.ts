import { ConfigurationError } from "@holdfast/core";
import { parseOptions } from "@holdfast/core/plugin-kit";
import { z } from "zod";
import type { MysqlPool } from "./connection/mysql-pool.js";

/** What every part of this package takes. */
export interface MysqlPartOptions {
  /** A pool of mysql2, with promises or with callbacks. It belongs to the caller, who ends it. */
  readonly pool: MysqlPool;
  /** First part of every table's name: letters, digits and `_`, at most 32. @default "holdfast_" */
  readonly tablePrefix?: string | undefined;
  /** Make and change tables when they are first used; `false` only checks that they are there. @default true */
  readonly migrate?: boolean | undefined;
  /** Longest time until a command ends, waiting for a connection of the pool included. @default 5_000 */
  readonly commandTimeoutMs?: number | undefined;
}

/** Options of the gate, the signal bus and everything that has them. */
export interface MysqlLeaseOptions {
  /** A holder that is not heard of for this long loses its lease; it is renewed every third of it. @default 30_000 */
  readonly leaseMs?: number | undefined;
  /** How often this process looks for signals to its calls, while there are any. @default 250 */
  readonly signalPollMs?: number | undefined;
}

/** Every option with its default filled in; a part reads the ones it has. */
export interface ResolvedOptions {
  readonly pool: MysqlPool;
  readonly tablePrefix: string;
  readonly migrate: boolean;
  readonly commandTimeoutMs: number;
  readonly leaseMs: number;
  readonly signalPollMs: number;
}

/** The options every part has. */
export const partOptions: readonly (keyof ResolvedOptions)[] = [
  "pool",
  "tablePrefix",
  "migrate",
  "commandTimeoutMs",
];

/** Those of the parts that have leases, too. */
export const leaseOptions: readonly (keyof ResolvedOptions)[] = [
  ...partOptions,
  "leaseMs",
  "signalPollMs",
];

/** What a table prefix may be: nothing that could end a quoted name. */
export const tablePrefixSchema: z.ZodType<string> = z
  .string()
  .regex(/^[A-Za-z0-9_]{0,32}$/, "at most 32 letters, digits and _")
  .default("holdfast_");

const wholeMs = z.int().positive();

const schema = z.strictObject({
  pool: z.custom<MysqlPool>(
    (value) =>
      typeof value === "object" &&
      value !== null &&
      "getConnection" in value &&
      typeof value.getConnection === "function",
    "a pool of mysql2, made with createPool",
  ),
  tablePrefix: tablePrefixSchema,
  migrate: z.boolean().default(true),
  commandTimeoutMs: wholeMs.default(5_000),
  leaseMs: wholeMs.min(100).default(30_000),
  signalPollMs: wholeMs.min(10).default(250),
});

/**
 * The options of `where`, of which only those in `accepts` may be given.
 *
 * @throws ConfigurationError
 */
export function readOptions(
  where: string,
  options: object,
  accepts: readonly (keyof ResolvedOptions)[],
): ResolvedOptions {
  const unknown = Object.keys(options).filter(
    (name) => !accepts.includes(name as keyof ResolvedOptions),
  );
  if (unknown.length > 0)
    throw new ConfigurationError(unknown.map((name) => `${where}: there is no option ${name}`));
  return parseOptions(schema, options, where);
}
