import { stat } from "node:fs/promises";
import { ConfigurationError, type DistributedStore, InMemoryAgentStateStore } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import type { StoreReport } from "@holdfast/store-json";
import type { Redis } from "ioredis";
import type { Pool, RowDataPacket } from "mysql2/promise";
import { CommandError, exitCodes } from "../exit-code.js";
import { CONNECT_TIMEOUT_MS, checkReachable } from "./check-reachable.js";
import { booleanOption, numberOption, parseStoreUrl, type ServerStoreUrl } from "./store-url.js";

/** What a store stands on; for commands that look at the server or the files themselves. */
export type StoreBackend =
  | { readonly kind: "json"; readonly root: string }
  | { readonly kind: "redis"; readonly client: Redis }
  | { readonly kind: "mysql"; readonly pool: Pool }
  | { readonly kind: "custom" };

/** A store made from a URL; whoever opened it closes it. */
export interface OpenedStore {
  /** Without secrets. */
  readonly url: string;
  readonly parts: DistributedStore;
  readonly backend: StoreBackend;
  close(): Promise<void>;
}

/** How {@link openStore} opens. */
export interface OpenStoreOptions {
  /**
   * Refuse a place where nothing was ever saved: a directory that is not there, and of a store that is `readOnly` tables
   * that are not. Else they are made at the first use. @default false
   */
  readonly mustExist?: boolean | undefined;
  /** `mysql:` only: make and change no tables; where there are none the store is an empty one. @default false */
  readonly readOnly?: boolean | undefined;
  /** Where the URL was given, for errors. @default "--store" */
  readonly from?: string | undefined;
  /** Servers only: how long a lease lasts where the URL does not say. @default the store's own */
  readonly leaseMs?: number | undefined;
  /** `json:` only: told what is passed over. */
  readonly onReport?: ((report: StoreReport) => void) | undefined;
}

/**
 * Opens the store a URL names. A server that does not answer is noticed here and not at the first command.
 *
 * @throws CommandError for a URL that means nothing (2), a place that is not there (3), or tables of another release that
 * must not be changed (5)
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
  // Whoever uses a connection hears of its errors; without a listener they would go to stderr as well.
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
    // A server that accepts a connection and then says nothing is as good as none.
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
 * Whether a store that makes no tables has them; one that needs none has.
 *
 * @throws CommandError when they are those of another release
 * @throws StoreUnavailableError
 */
async function hasTables({ parts, backend }: OpenedStore, url: ServerStoreUrl): Promise<boolean> {
  if (backend.kind !== "mysql") return true;
  try {
    // The store itself knows best whether it can work there, and what an error of the server means.
    await parts.stateStore.load({ agentId: "nobody", userId: null, sessionId: uuidv7() });
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
      `${url.url}: its tables are those of an older release, and it is only read; bring them up to date first: ${error.message}`,
    );
  }
}

function noTables(url: ServerStoreUrl): CommandError {
  return new CommandError(
    exitCodes.notFound,
    `${url.url}: the database ${url.database} has no tables ${prefixOf(url)}*; nothing was ever saved there`,
  );
}

/** First part of the names of everything a store keeps on its server. */
export function prefixOf({ kind, options }: ServerStoreUrl): string {
  return options["prefix"] ?? { redis: "holdfast:", mysql: "holdfast_" }[kind];
}

/**
 * Refuses a directory that is not there.
 *
 * @param name - what it was called by whoever named it
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
