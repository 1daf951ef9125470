import { stat } from "node:fs/promises";
import { ConfigurationError, type DistributedStore, InMemoryAgentStateStore } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import type { StoreReport } from "@holdfast/store-json";
import type { Redis } from "ioredis";
import type { Pool, RowDataPacket } from "mysql2/promise";
import { CommandError, exitCodes } from "../exit-code.js";
import { CONNECT_TIMEOUT_MS, checkReachable } from "./check-reachable.js";
import { booleanOption, numberOption, parseStoreUrl, type ServerStoreUrl } from "./store-url.js";

/** Backend of a store, for commands that inspect the server or the files themselves. */
export type StoreBackend =
  | { readonly kind: "json"; readonly root: string }
  | { readonly kind: "redis"; readonly client: Redis }
  | { readonly kind: "mysql"; readonly pool: Pool }
  | { readonly kind: "custom" };

/** Open store; the caller closes it. */
export interface OpenedStore {
  /** URL without secrets. */
  readonly url: string;
  readonly parts: DistributedStore;
  readonly backend: StoreBackend;
  close(): Promise<void>;
}

/** Options of {@link openStore}. */
export interface OpenStoreOptions {
  /**
   * Refuse a directory that does not exist and, with `readOnly`, missing tables. Otherwise they are created at the first
   * use. @default false
   */
  readonly mustExist?: boolean | undefined;
  /** `mysql:` only: do not create or change tables; without tables the store is empty. @default false */
  readonly readOnly?: boolean | undefined;
  /** Origin of the URL, for errors. @default "--store" */
  readonly from?: string | undefined;
  /** Servers only: duration of a lease, unless the URL sets it. @default the store's own */
  readonly leaseMs?: number | undefined;
  /** `json:` only: receives what the store skips. */
  readonly onReport?: ((report: StoreReport) => void) | undefined;
}

/**
 * Opens the store at a URL. A server that does not answer is detected here, not at the first command.
 *
 * @throws CommandError for an invalid URL (2), a store that does not exist (3), or tables of another release that must not
 * be changed (5)
 * @throws StoreUnavailableError
 */
export async function openStore(
  text: string,
  { mustExist = false, readOnly = false, from, leaseMs, onReport }: OpenStoreOptions = {},
): Promise<OpenedStore> {
  const url = parseStoreUrl(text, from);
  if (url.kind === "json") {
    if (mustExist) await checkDirectory(url.root, url.url);
    return openJson(url.root, onReport);
  }
  const store = await (url.kind === "redis"
    ? openRedis(url, leaseMs)
    : openMysql(url, leaseMs, readOnly));
  try {
    await checkReachable(url);
    if (!readOnly || (await hasTables(store, url))) return store;
    if (mustExist) throw noTables(url);
    return { ...store, parts: new InMemoryAgentStateStore().companions() };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function openJson(
  root: string,
  onReport: OpenStoreOptions["onReport"],
): Promise<OpenedStore> {
  const { JsonFileAgentStateStore } = await import("@holdfast/store-json");
  const store = new JsonFileAgentStateStore({ root, onReport });
  return {
    url: `json:${root}`,
    parts: store.companions(),
    backend: { kind: "json", root },
    close: () => store.close(),
  };
}

async function openRedis(url: ServerStoreUrl, leaseMs?: number): Promise<OpenedStore> {
  const [{ Redis }, { RedisDistributedStore }] = await Promise.all([
    import("ioredis"),
    import("@holdfast/store-redis"),
  ]);
  const client = new Redis({
    host: url.host,
    port: url.port,
    db: Number(url.database ?? 0),
    lazyConnect: true,
    ...(url.user !== undefined && { username: url.user }),
    ...(url.password !== undefined && { password: url.password }),
    ...(url.tls && { tls: {} }),
  });
  // Commands report connection errors; without a listener ioredis would print them as well.
  client.on("error", () => undefined);
  const parts = RedisDistributedStore.from(client, {
    keyPrefix: url.options["prefix"],
    ttlMs: numberOption(url, "ttlMs"),
    minReplicas: numberOption(url, "minReplicas"),
    leaseMs: numberOption(url, "leaseMs") ?? leaseMs,
    commandTimeoutMs: numberOption(url, "timeoutMs"),
  });
  return {
    url: url.url,
    parts,
    backend: { kind: "redis", client },
    async close() {
      await parts.close();
      client.disconnect();
    },
  };
}

async function openMysql(
  url: ServerStoreUrl,
  leaseMs: number | undefined,
  readOnly: boolean,
): Promise<OpenedStore> {
  const [{ createPool }, { MysqlDistributedStore }] = await Promise.all([
    import("mysql2/promise"),
    import("@holdfast/store-mysql"),
  ]);
  const pool = createPool({
    // A server may accept the connection and then send nothing.
    connectTimeout: CONNECT_TIMEOUT_MS,
    host: url.host,
    port: url.port,
    ...(url.user !== undefined && { user: url.user }),
    ...(url.password !== undefined && { password: url.password }),
    ...(url.database !== undefined && { database: url.database }),
    ...(url.tls && { ssl: {} }),
  });
  const parts = MysqlDistributedStore.from(pool, {
    tablePrefix: url.options["prefix"],
    migrate: booleanOption(url, "migrate") !== false && !readOnly,
    leaseMs: numberOption(url, "leaseMs") ?? leaseMs,
    commandTimeoutMs: numberOption(url, "timeoutMs"),
  });
  return {
    url: url.url,
    parts,
    backend: { kind: "mysql", pool },
    async close() {
      await parts.close();
      await pool.end();
    },
  };
}

/**
 * Returns whether a store has the tables it needs.
 *
 * @throws CommandError for tables of another release
 * @throws StoreUnavailableError
 */
async function hasTables({ parts, backend }: OpenedStore, url: ServerStoreUrl): Promise<boolean> {
  if (backend.kind !== "mysql") return true;
  try {
    // The store itself decides whether it can use the tables, and interprets errors of the server.
    await parts.stateStore.load({ agentId: "unknown", userId: null, sessionId: uuidv7() });
    return true;
  } catch (error) {
    if (!ConfigurationError.is(error)) throw error;
    const [rows] = await backend.pool.query<RowDataPacket[]>(
      "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?",
      [`${prefixOf(url)}slots`],
    );
    if (rows.length === 0) return false;
    throw new CommandError(
      exitCodes.unavailable,
      `${url.url}: its tables are of an older release and it is opened read-only; update them first: ${error.message}`,
    );
  }
}

function noTables(url: ServerStoreUrl): CommandError {
  return new CommandError(
    exitCodes.notFound,
    `${url.url}: the database ${url.database} has no tables ${prefixOf(url)}*; nothing was ever saved there`,
  );
}

/** Returns the prefix of keys or tables on the server. */
export function prefixOf({ kind, options }: ServerStoreUrl): string {
  return options["prefix"] ?? { redis: "holdfast:", mysql: "holdfast_" }[kind];
}

/**
 * Refuses a directory that does not exist.
 *
 * @param name - its name as given, for the error
 * @throws CommandError with exit code 3
 */
export async function checkDirectory(root: string, name: string): Promise<void> {
  const found = await stat(root).catch(() => undefined);
  if (found?.isDirectory()) return;
  throw new CommandError(
    exitCodes.notFound,
    `${name}: ${found === undefined ? "no such directory" : "not a directory"}; nothing was ever saved there`,
  );
}
