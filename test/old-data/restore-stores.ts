import { randomUUID } from "node:crypto";
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inflateSync } from "node:zlib";
import type { DistributedStore } from "@holdfast/core";
import { withEncryption } from "@holdfast/encryption";
import type { HarnessAgentOptions } from "@holdfast/harness";
import { JsonFileAgentStateStore, JsonlConversationLog } from "@holdfast/store-json";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { tempDirectory } from "@holdfast/testing";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import { inject } from "vitest";
import { fixtures, type Kind, type Part } from "./old-release.js";

const encryption = { keys: [{ id: "fixtures", key: Buffer.alloc(32, "fixtures only ") }] };

/** A store over restored data, opened as a new process would. */
export interface OpenedStore {
  readonly store: DistributedStore;
  /** What an agent over it is given. */
  readonly options: Pick<HarnessAgentOptions, "stateStore" | "distributedStore" | "workspace">;
  close(): Promise<void>;
}

/** Restored data, for one test or several. */
export interface RestoredData {
  open(): OpenedStore;
  cleanup(): Promise<void>;
}

/** Puts a copy of what the old release stored in a place of its own. */
export async function restore(kind: Kind, part: Part): Promise<RestoredData> {
  const directory = await tempDirectory();
  const open = await restorers[kind](part, directory.path);
  return { open, cleanup: () => directory.cleanup() };
}

type Restorer = (part: Part, directory: string) => Promise<() => OpenedStore>;

const restorers: Readonly<Record<Kind, Restorer>> = {
  async json(part, directory) {
    await cp(fileURLToPath(new URL(`json/${part}`, fixtures)), directory, { recursive: true });
    const workspace = join(directory, "workspace");
    return () => {
      const root = join(directory, "state");
      const files = new JsonFileAgentStateStore({ root, durability: "os" });
      const stateStore = part === "vault" ? withEncryption(files, encryption) : files;
      const companions = stateStore.companions?.() ?? files.companions();
      // A harness keeps the log of a JSON store in the workspace, unless it is encrypted.
      const log = part === "vault" ? companions.log : new JsonlConversationLog({ root: workspace });
      const store = { ...companions, log };
      return { store, options: { stateStore, workspace }, close: () => stateStore.close() };
    };
  },

  async redis(part, workspace) {
    const keyPrefix = `old-${randomUUID()}:`;
    const client = new Redis(inject("redisUrl"));
    const dump: readonly RedisKey[] = JSON.parse(await text("redis.dump.json"));
    for (const { key, type, contents } of dump) {
      if (!key.startsWith(`held${part}:`)) continue;
      const name = keyPrefix + key.slice(`held${part}:`.length);
      await client.call(redisWriters[type].command, name, ...redisWriters[type].order(contents));
    }
    client.disconnect();
    return () => {
      const own = new Redis(inject("redisUrl"));
      const store = sealed(part, RedisDistributedStore.from(own, { keyPrefix }));
      const close = () => store.stateStore.close().then(() => own.disconnect());
      return { store, options: { distributedStore: store, workspace }, close };
    };
  },

  async mysql(part, workspace) {
    const tablePrefix = `old${randomUUID().slice(0, 8)}_`;
    const pool = createPool(inject("mysqlUrl"));
    const dump: readonly MysqlTables[] = JSON.parse(await text("mysql.dump.json"));
    for (const { prefix, statements, tables } of dump) {
      if (prefix !== `held${part}_`) continue;
      for (const sql of statements) await pool.query(sql.replaceAll(prefix, tablePrefix));
      for (const { table, columns, rows } of tables) {
        const name = tablePrefix + table.slice(prefix.length);
        await pool.query(`DELETE FROM ${name}`);
        const insert = `INSERT INTO ${name} (${columns.map((each) => `\`${each}\``).join()}) VALUES ?`;
        if (rows.length > 0) await pool.query(insert, [rows.map((row) => row.map(bytesOf))]);
      }
    }
    await pool.end();
    return () => {
      const own = createPool(inject("mysqlUrl"));
      // The first command migrates the tables, which takes longer than usual on a busy machine.
      const mysql = MysqlDistributedStore.from(own, { tablePrefix, commandTimeoutMs: 30_000 });
      const store = sealed(part, mysql);
      const close = () => store.stateStore.close().then(() => own.end());
      return { store, options: { distributedStore: store, workspace }, close };
    };
  },
};

function sealed(part: Part, store: DistributedStore): DistributedStore {
  return part === "vault" ? withEncryption(store, encryption) : store;
}

function text(name: string): Promise<string> {
  return readFile(new URL(name, fixtures), "utf8");
}

/** Text, bytes, or long text in a dump. */
type Cell = string | { readonly base64: string } | { readonly deflated: string } | null;

function bytesOf(cell: Cell): Buffer | null {
  if (cell === null) return null;
  if (typeof cell === "string") return Buffer.from(cell);
  return "base64" in cell
    ? Buffer.from(cell.base64, "base64")
    : inflateSync(Buffer.from(cell.deflated, "base64"));
}

interface RedisKey {
  readonly key: string;
  readonly type: keyof typeof redisWriters;
  readonly contents: readonly Cell[];
}

const asRead = (contents: readonly Cell[]) => contents.map((cell) => bytesOf(cell) ?? "");

/** The command that writes what a dump read, and its arguments. */
const redisWriters = {
  string: { command: "SET", order: asRead },
  hash: { command: "HSET", order: asRead },
  list: { command: "RPUSH", order: asRead },
  set: { command: "SADD", order: asRead },
  zset: {
    command: "ZADD",
    // Read as member and score, written the other way round.
    order: (contents: readonly Cell[]) =>
      asRead(contents).map((_, index, all) => all[index ^ 1] ?? ""),
  },
} as const;

interface MysqlTables {
  readonly prefix: string;
  readonly statements: readonly string[];
  readonly tables: readonly {
    readonly table: string;
    readonly columns: readonly string[];
    readonly rows: readonly (readonly Cell[])[];
  }[];
}
