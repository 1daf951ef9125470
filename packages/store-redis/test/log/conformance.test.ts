import { describeConversationLog } from "@holdfast/testing";
import { type TcpProxy, tcpProxy } from "@holdfast/testing/servers";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { inject } from "vitest";
import type { RedisClient } from "../../src/connection/redis-client.js";
import { RedisConversationLog } from "../../src/log/redis-conversation-log.js";
import { ownPrefix } from "./redis-logs.js";

/** What belongs to a log under test. */
interface Setting {
  readonly keyPrefix: string;
  readonly proxy: TcpProxy;
  readonly client: RedisClient;
  readonly end: () => unknown;
}

const settings = new WeakMap<object, Setting>();

function settingOf(log: object): Setting {
  const setting = settings.get(log);
  if (setting === undefined) throw new Error("not a log of this file");
  return setting;
}

async function openLog(
  makeClient: (url: string) => { client: RedisClient; end: () => unknown },
  existing?: Setting,
): Promise<RedisConversationLog> {
  const { hostname, port } = new URL(inject("redisUrl"));
  const proxy = existing?.proxy ?? (await tcpProxy({ host: hostname, port: Number(port) }));
  const keyPrefix = existing?.keyPrefix ?? ownPrefix();
  const { client, end } = makeClient(`redis://${proxy.host}:${proxy.port}`);
  const log = new RedisConversationLog({ client, keyPrefix, commandTimeoutMs: 3_000 });
  settings.set(log, { keyPrefix, proxy, client, end });
  return log;
}

function describeWith(
  name: string,
  makeClient: (url: string) => { client: RedisClient; end: () => unknown },
): void {
  describeConversationLog(name, {
    create: () => openLog(makeClient),
    reopen: (log) => openLog(makeClient, settingOf(log)),
    breakBackend: (log) => settingOf(log).proxy.close(),
    async cleanup(log) {
      const { end, proxy } = settingOf(log);
      await (log as RedisConversationLog).close();
      await end();
      await proxy.close();
    },
  });
}

describeWith("RedisConversationLog on ioredis", (url) => {
  const client = new Redis(url, { lazyConnect: true });
  return { client, end: () => client.disconnect() };
});

describeWith("RedisConversationLog on node-redis", (url) => {
  const client = createClient({ url });
  return { client, end: () => (client.isOpen ? client.destroy() : undefined) };
});
