import { randomBytes } from "node:crypto";
import type { AgentStateStore } from "@holdfast/core";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { type TcpProxy, tcpProxy } from "@holdfast/testing/servers";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import { bytesPerTurn } from "./bytes-per-turn.js";
import { type Comparison, compare } from "./compare.js";
import { mysqlFloor } from "./mysql-floor.js";
import { redisFloor } from "./redis-floor.js";
import { StoreTurns } from "./store-turn.js";

/** What was measured of one store. */
export interface StoreMeasurement {
  readonly store: string;
  readonly warmTurn: Comparison;
  /** Bytes sent per turn, by messages the session holds. */
  readonly bytes: { readonly at10: number; readonly at5000: number; readonly ratio: number };
}

const effort = { warmUp: 800, rounds: 25, batch: 25 };

/** Measures warm turns on Redis. */
export async function measureRedis(url: string): Promise<StoreMeasurement> {
  const prefix = freshPrefix();
  await using proxy = await proxyTo(url);
  const [client, proxied] = [new Redis(url), new Redis(throughProxy(url, proxy))];
  const [{ stateStore }, { stateStore: watched }] = [
    RedisDistributedStore.from(client, { keyPrefix: prefix }),
    RedisDistributedStore.from(proxied, { keyPrefix: prefix }),
  ];
  try {
    return await measure("redis", stateStore, watched, proxy, redisFloor(client, prefix));
  } finally {
    await Promise.all([stateStore.close(), watched.close()]);
    client.disconnect();
    proxied.disconnect();
  }
}

/** Measures warm turns on MySQL or MariaDB. */
export async function measureMysql(url: string): Promise<StoreMeasurement> {
  const prefix = freshPrefix();
  await using proxy = await proxyTo(url);
  const [pool, proxied] = [createPool(url), createPool(throughProxy(url, proxy))];
  const [{ stateStore }, { stateStore: watched }] = [
    MysqlDistributedStore.from(pool, { tablePrefix: prefix }),
    MysqlDistributedStore.from(proxied, { tablePrefix: prefix }),
  ];
  try {
    const floor = await mysqlFloor(pool, `${prefix}floor_`);
    return await measure("mysql", stateStore, watched, proxy, floor);
  } finally {
    await Promise.all([stateStore.close(), watched.close()]);
    await Promise.all([pool.end(), proxied.end()]);
  }
}

async function measure(
  store: string,
  direct: AgentStateStore,
  watched: AgentStateStore,
  proxy: TcpProxy,
  floor: () => Promise<void>,
): Promise<StoreMeasurement> {
  const session = new StoreTurns(direct, "warm");
  await session.turn();
  const warmTurn = await compare(floor, () => session.turn(), effort);
  const at10 = await bytesPerTurn(watched, proxy, 10);
  const at5000 = await bytesPerTurn(watched, proxy, 5_000);
  return { store, warmTurn, bytes: { at10, at5000, ratio: at5000 / at10 } };
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
