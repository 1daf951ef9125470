import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, inject } from "vitest";
import { connect } from "../../src/connection/redis-connection.js";
import {
  RedisConversationLog,
  type RedisConversationLogOptions,
} from "../../src/log/redis-conversation-log.js";
import { type Passed, watchedConnection } from "./watched-connection.js";

/** A client, and logs made from it. */
export interface RedisLogs {
  readonly url: string;
  /** For looking at keys behind the log's back. */
  readonly client: Redis;
  /** A log on a prefix of its own, or on that given; closed at the end of the file. */
  open(options?: Partial<RedisConversationLogOptions>): RedisConversationLog;
  /** As `open`; `onReply` is told of everything the server answers. */
  watch(
    options: Partial<RedisConversationLogOptions>,
    onReply: (passed: Passed) => void | Promise<void>,
  ): RedisConversationLog;
}

/** A prefix no other test has. */
export function ownPrefix(): string {
  return `test-${randomUUID()}:`;
}

/** The keys below a prefix, in order. */
export async function keysBelow(client: Redis, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of client.scanStream({ match: `${prefix}*`, count: 1_000 }))
    keys.push(...(page as string[]));
  return keys.sort();
}

/** What the tests of a file share. */
export function redisLogs(): RedisLogs {
  const url = inject("redisUrl");
  const client = new Redis(url);
  const closing: { close(): Promise<void> }[] = [];
  afterAll(async () => {
    for (const each of closing) await each.close();
    client.disconnect();
  });
  return {
    url,
    client,
    open(options = {}) {
      const log = new RedisConversationLog({ client, keyPrefix: ownPrefix(), ...options });
      closing.push(log);
      return log;
    },
    watch(options, onReply) {
      const connection = connect(client, { commandTimeoutMs: 10_000 });
      closing.push(connection);
      const watched = watchedConnection(connection, onReply);
      return new RedisConversationLog({ client, keyPrefix: ownPrefix(), ...options }, watched);
    },
  };
}
