import { join } from "node:path";
import { tempDirectory } from "@holdfast/testing";
import {
  type MariadbServer,
  privateMariadb,
  privateRedis,
  type RedisServer,
  type ServerProcess,
  type TcpProxy,
  tcpProxy,
} from "@holdfast/testing/servers";
import { Redis } from "ioredis";
import { type Connection, createConnection } from "mysql2/promise";
import type { NodeStoreChoice } from "./node/open-node-store.mjs";

/** Stores that a history can run on. */
export const storeKinds = ["json", "redis", "mysql"] as const;
export type StoreKind = (typeof storeKinds)[number];

/** The store under test, with a network of its own for each node. */
export interface StoreRig {
  readonly kind: StoreKind;
  /** Way to the store that no fault is on, for the checks. */
  readonly direct: NodeStoreChoice;
  /** Way of a node to the store. */
  choiceOf(node: number): NodeStoreChoice;
  /** Network and server; absent for files. */
  readonly remote?: RemoteStore | undefined;
  close(): Promise<void>;
}

/** Parts of a store on a server that can fail. */
export interface RemoteStore {
  readonly server: ServerProcess;
  proxyOf(node: number): TcpProxy;
  /** Gives a node a new network; the old one stays as it is, with its connections. */
  replaceProxy(node: number): Promise<void>;
  /** Runs a statement or command as the administrator. */
  admin(command: readonly (string | number)[]): Promise<unknown>;
}

/** Opens a store for the nodes of one history. */
export function openRig(kind: StoreKind, nodes: number, leaseMs: number): Promise<StoreRig> {
  if (kind === "json") return fileRig(leaseMs);
  return kind === "redis" ? redisRig(nodes, leaseMs) : mysqlRig(nodes, leaseMs);
}

async function fileRig(leaseMs: number): Promise<StoreRig> {
  const directory = await tempDirectory("holdfast-history-");
  const choice = { kind: "json", root: join(directory.path, "state"), leaseMs } as const;
  return { kind: "json", direct: choice, choiceOf: () => choice, close: directory.cleanup };
}

async function redisRig(nodes: number, leaseMs: number): Promise<StoreRig> {
  // What was acknowledged is on disk before the answer: a killed server loses nothing.
  const server = await privateRedis({ args: ["--appendonly", "yes", "--appendfsync", "always"] });
  // One connection that is kept: when the server takes no more of them, this one can still change its mind.
  const client = new Redis(server.url);
  client.on("error", () => undefined);
  await client.ping();
  const admin: RemoteStore["admin"] = ([name, ...args]) => client.call(String(name), ...args);
  const rig = await remoteRig("redis", nodes, leaseMs, server, admin);
  return {
    ...rig,
    async close() {
      client.disconnect();
      await rig.close();
    },
  };
}

async function mysqlRig(nodes: number, leaseMs: number): Promise<StoreRig> {
  const server = await privateMariadb();
  // Kept, like that of Redis; made anew when the server was restarted.
  let connection: Connection | undefined;
  const admin: RemoteStore["admin"] = async (command) => {
    try {
      connection ??= await connectAs(server.url);
      return (await connection.query(command.join(" ")))[0];
    } catch (error) {
      connection?.destroy();
      connection = undefined;
      throw error;
    }
  };
  // Not root, for whom a server that only reads still writes.
  await admin(["CREATE USER app"]);
  await admin([`GRANT ALL ON ${server.database}.* TO app`]);
  const asApplication = (url: string) => url.replace("root@", "app@");
  const rig = await remoteRig("mysql", nodes, leaseMs, server, admin, asApplication);
  return {
    ...rig,
    async close() {
      connection?.destroy();
      await rig.close();
    },
  };
}

async function connectAs(uri: string): Promise<Connection> {
  const connection = await createConnection({ uri, connectTimeout: 2_000 });
  // Told to the command that is under way, or to the next one.
  connection.on("error", () => undefined);
  return connection;
}

async function remoteRig(
  kind: "redis" | "mysql",
  nodes: number,
  leaseMs: number,
  server: RedisServer | MariadbServer,
  admin: RemoteStore["admin"],
  asApplication: (url: string) => string = (url) => url,
): Promise<StoreRig> {
  const proxies: TcpProxy[] = [];
  const abandoned: TcpProxy[] = [];
  for (let node = 0; node < nodes; node++) proxies.push(await tcpProxy(server));
  const proxyOf = (node: number): TcpProxy => {
    const proxy = proxies[node];
    if (proxy === undefined) throw new Error(`there is no node ${node}`);
    return proxy;
  };
  const choice = { kind, prefix: "history_", leaseMs, commandTimeoutMs: 3_000 } as const;
  return {
    kind,
    direct: { ...choice, url: asApplication(server.url) },
    choiceOf(node) {
      const url = new URL(asApplication(server.url));
      const { host, port } = proxyOf(node);
      url.host = `${host}:${port}`;
      return { ...choice, url: url.href };
    },
    remote: {
      server: server.process,
      proxyOf,
      async replaceProxy(node) {
        abandoned.push(proxyOf(node));
        proxies[node] = await tcpProxy(server);
      },
      admin,
    },
    async close() {
      await Promise.all([...proxies, ...abandoned].map((proxy) => proxy.close()));
      await server.stop();
    },
  };
}
