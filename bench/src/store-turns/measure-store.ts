import { randomBytes } from "node:crypto";
import type { AgentStateStore } from "@holdfast/core";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import { type Comparison, compare } from "../measure/compare.js";
import { WatchedAddress } from "../stores/watched-address.js";
import { mysqlSave } from "./mysql-save.js";
import { redisSave } from "./redis-save.js";
import { StoreTurns } from "./store-turns.js";
import { type Traffic, trafficOf } from "./traffic.js";

/** Cost of turns on one store, without an engine. */
export interface StoreMeasurement {
  readonly warmTurn: Comparison;
  /** Of the least a save can be, and of a turn by the messages that the session holds. */
  readonly traffic: { readonly floor: Traffic; readonly at10: Traffic; readonly at5000: Traffic };
}

/** A store and the least that a save can be there, on one connection. */
interface Line {
  readonly store: AgentStateStore;
  readonly save: () => Promise<void>;
  close(): Promise<void>;
}

const lines: Readonly<Record<"redis" | "mysql", typeof redisLine>> = {
  redis: redisLine,
  mysql: mysqlLine,
};

const efforts = {
  thorough: { warmUp: 800, rounds: 25, batch: 25 },
  brief: { warmUp: 50, rounds: 5, batch: 10 },
};

/** Measures warm turns; `brief` times few of them. Traffic is the same with either. */
export async function measureStore(
  name: keyof typeof lines,
  url: string,
  effort: keyof typeof efforts,
): Promise<StoreMeasurement> {
  const prefix = `bench_${randomBytes(4).toString("hex")}_`;
  const address = await WatchedAddress.open(url, true);
  const [direct, watched] = [
    await lines[name](url, prefix, "direct"),
    await lines[name](address.url, prefix, "watched"),
  ];
  try {
    const session = new StoreTurns(direct.store, "warm");
    await session.turn();
    const warmTurn = await compare(direct.save, () => session.turn(), efforts[effort]);
    const traffic = {
      floor: await trafficOf(address, watched.save),
      at10: await turnTraffic(watched.store, address, 10),
      at5000: await turnTraffic(watched.store, address, 5_000),
    };
    return { warmTurn, traffic };
  } finally {
    await direct.close();
    await watched.close();
    await address.close();
  }
}

async function turnTraffic(
  store: AgentStateStore,
  address: WatchedAddress,
  messages: number,
): Promise<Traffic> {
  const session = new StoreTurns(store, `traffic-${messages}`);
  await session.fill(messages);
  return trafficOf(address, () => session.turn());
}

async function redisLine(url: string, prefix: string, name: string): Promise<Line> {
  const client = new Redis(url);
  const { stateStore: store } = RedisDistributedStore.from(client, { keyPrefix: prefix });
  const close = async () => {
    await store.close();
    client.disconnect();
  };
  return { store, save: redisSave(client, `${prefix}${name}`), close };
}

async function mysqlLine(url: string, prefix: string, name: string): Promise<Line> {
  const pool = createPool(url);
  const { stateStore: store } = MysqlDistributedStore.from(pool, { tablePrefix: prefix });
  const close = async () => {
    await store.close();
    await pool.end();
  };
  return { store, save: await mysqlSave(pool, `${prefix}${name}_`), close };
}
