import { randomBytes } from "node:crypto";
import type { AgentStateStore } from "@holdfast/core";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { type TcpProxy, tcpProxy } from "@holdfast/testing/servers";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import { type Comparison, compare } from "./compare.js";
import { mysqlFloor } from "./mysql-floor.js";
import { redisFloor } from "./redis-floor.js";
import { StoreTurns } from "./store-turn.js";
import { type Traffic, trafficOf, turnTraffic } from "./traffic.js";

/** What was measured of one store. */
export interface StoreMeasurement {
  readonly store: string;
  readonly warmTurn: Comparison;
  /** Of the least a save can be, and of a turn by the messages that the session holds. */
  readonly traffic: { readonly floor: Traffic; readonly at10: Traffic; readonly at5000: Traffic };
}

const efforts = {
  thorough: { warmUp: 800, rounds: 25, batch: 25 },
  brief: { warmUp: 50, rounds: 5, batch: 10 },
};

/** How many turns are timed: enough for figures, or as many as take no time. Traffic is the same with either. */
export type StoreEffort = keyof typeof efforts;

/** Measures warm turns on Redis. */
export async function measureRedis(url: string, effort: StoreEffort): Promise<StoreMeasurement> {
  const prefix = freshPrefix();
  await using proxy = await proxyTo(url);
  const [client, proxied] = [new Redis(url), new Redis(throughProxy(url, proxy))];
  const [{ stateStore }, { stateStore: watched }] = [
    RedisDistributedStore.from(client, { keyPrefix: prefix }),
    RedisDistributedStore.from(proxied, { keyPrefix: prefix }),
  ];
  try {
    const floors: Floors = [redisFloor(client, prefix), redisFloor(proxied, prefix)];
    return await measure("redis", { direct: stateStore, watched }, proxy, floors, effort);
  } finally {
    await Promise.all([stateStore.close(), watched.close()]);
    client.disconnect();
    proxied.disconnect();
  }
}

/** Measures warm turns on MySQL or MariaDB. */
export async function measureMysql(url: string, effort: StoreEffort): Promise<StoreMeasurement> {
  const prefix = freshPrefix();
  await using proxy = await proxyTo(url);
  const [pool, proxied] = [createPool(url), createPool(throughProxy(url, proxy))];
  const [{ stateStore }, { stateStore: watched }] = [
    MysqlDistributedStore.from(pool, { tablePrefix: prefix }),
    MysqlDistributedStore.from(proxied, { tablePrefix: prefix }),
  ];
  try {
    const floors: Floors = [
      await mysqlFloor(pool, `${prefix}floor_`),
      await mysqlFloor(proxied, `${prefix}watched_`),
    ];
    return await measure("mysql", { direct: stateStore, watched }, proxy, floors, effort);
  } finally {
    await Promise.all([stateStore.close(), watched.close()]);
    await Promise.all([pool.end(), proxied.end()]);
  }
}

/** The same without and with a proxy that watches. */
type Floors = readonly [direct: () => Promise<void>, watched: () => Promise<void>];

async function measure(
  store: string,
  { direct, watched }: Readonly<Record<"direct" | "watched", AgentStateStore>>,
  proxy: TcpProxy,
  [floor, watchedFloor]: Floors,
  effort: StoreEffort,
): Promise<StoreMeasurement> {
  const session = new StoreTurns(direct, "warm");
  await session.turn();
  const warmTurn = await compare(floor, () => session.turn(), efforts[effort]);
  const traffic = {
    floor: await trafficOf(proxy, watchedFloor),
    at10: await turnTraffic(watched, proxy, 10),
    at5000: await turnTraffic(watched, proxy, 5_000),
  };
  return { store, warmTurn, traffic };
}

function proxyTo(url: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(url);
  return tcpProxy({ host: hostname, port: Number(port) });
}

function throughProxy(url: string, { host, port }: TcpProxy): string {
  const proxied = new URL(url);
  proxied.host = `${host}:${port}`;
  return proxied.href;
}

function freshPrefix(): string {
  return `bench_${randomBytes(4).toString("hex")}_`;
}
