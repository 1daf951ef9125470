import type { AgentStateStore, DistributedStore } from "@holdfast/core";
import { withEncryption } from "@holdfast/encryption";
import {
  describeAgentStateStore,
  describeConversationLog,
  describeKeyValueStore,
  describeSessionGate,
  describeSignalBus,
  scaled,
} from "@holdfast/testing";
import { privateMariadb, privateRedis, redisCommand } from "@holdfast/testing/servers";
import { createPool } from "mysql2/promise";
import { describe, expect, onTestFinished, test } from "vitest";
import { fleetStores, freshChoice, freshPrefix } from "../fleet/choices.js";
import { openStore, type StoreChoice } from "../fleet/open-store.mjs";
import { canary, filesWith } from "./canary.js";
import { freshOptions } from "./keys.js";
import { loadState, slotOf } from "./stored.js";
import { writeEverywhere } from "./write-everywhere.js";

/** Encrypted parts, and what is needed to open them again and to close them. */
interface Opened {
  readonly choice: StoreChoice;
  readonly options: ReturnType<typeof freshOptions>;
  readonly store: DistributedStore;
  close(): Promise<void>;
}

function open(choice: StoreChoice, options = freshOptions()): Opened {
  const { store, close } = openStore(choice);
  return { choice, options, store: withEncryption(store, options), close };
}

/** How the suites get at one part of an encrypted store. */
function encrypted<T extends object>(
  kind: "redis" | "mysql",
  take: (store: DistributedStore) => T,
) {
  const opened = new WeakMap<T, Opened>();
  const keep = (one: Opened): T => {
    const part = take(one.store);
    opened.set(part, one);
    return part;
  };
  return {
    create: () => keep(open(freshChoice(kind, { commandTimeoutMs: 30_000 }))),
    reopen(part: T) {
      const { choice, options } = opened.get(part) as Opened;
      return keep(open(choice, options));
    },
    cleanup: (part: T) => (opened.get(part) as Opened).close(),
  };
}

// Encryption does the same with the parts of any store: in everyday runs the other suite tries them in memory and on files.
for (const kind of scaled([], fleetStores)) {
  describeAgentStateStore(`${kind}, encrypted`, {
    ...encrypted(kind, ({ stateStore }) => stateStore),
    fuses: ["gate", "log"],
    inbox: true,
    callRecords: true,
    deltaLoads: true,
  });
  describeConversationLog(
    `${kind}, encrypted`,
    encrypted(kind, ({ log }) => log),
  );
  describeKeyValueStore(
    `${kind}, encrypted`,
    encrypted(kind, ({ keyValue }) => keyValue),
  );
  describeSessionGate(
    `${kind}, encrypted`,
    encrypted(kind, ({ gate }) => gate),
  );
  describeSignalBus(
    `${kind}, encrypted`,
    encrypted(kind, ({ signals }) => signals),
  );
}

describe("on the servers' disks", () => {
  /** Writes, with and without encryption, and tells which files then hold what was said. */
  async function found(choice: StoreChoice, directory: string, flush: () => Promise<unknown>) {
    const write = async (wrap: (store: AgentStateStore) => AgentStateStore): Promise<string[]> => {
      const { store, close } = openStore({ ...choice, prefix: freshPrefix() });
      const wrapped = wrap(store.stateStore);
      await writeEverywhere(wrapped);
      expect(JSON.stringify(await loadState(wrapped, slotOf()))).toContain(canary);
      await flush();
      await close();
      return filesWith(directory);
    };
    const sealed = await write((store) => withEncryption(store, freshOptions()));
    return { sealed, readable: await write((store) => store) };
  }

  test("Redis keeps nothing readable of what was said", async () => {
    const redis = await privateRedis({ args: ["--appendonly", "yes"] });
    onTestFinished(() => redis.stop());
    const [, directory = ""] = (await redisCommand(redis, "CONFIG", "GET", "dir")).split("\n");
    const choice = { kind: "redis", url: redis.url, prefix: "" } as const;
    const files = await found(choice, directory, () => redisCommand(redis, "SAVE"));
    expect(files.sealed).toEqual([]);
    expect(files.readable.length).toBeGreaterThan(0);
  });

  test("MariaDB keeps nothing readable of what was said", async () => {
    const mariadb = await privateMariadb({ args: ["--log-bin=binlog", "--server-id=1"] });
    onTestFinished(() => mariadb.stop());
    const pool = createPool(mariadb.url);
    onTestFinished(() => pool.end());
    const [rows] = await pool.query("SELECT @@datadir AS directory");
    const [{ directory }] = rows as unknown as [{ directory: string }];
    const choice = { kind: "mysql", url: mariadb.url, prefix: "" } as const;
    const files = await found(choice, directory, () => pool.query("FLUSH TABLES"));
    expect(files.sealed).toEqual([]);
    expect(files.readable.length).toBeGreaterThan(0);
  });
});
