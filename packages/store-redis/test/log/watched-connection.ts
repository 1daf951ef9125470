import type { RedisConnection, RedisReply } from "../../src/connection/redis-connection.js";

/** A reply seen on a watched connection. */
export interface Passed {
  /** The name of the script or command. */
  readonly name: string;
  readonly reply: RedisReply;
}

/** Wraps a connection so that `onReply` sees every reply first; the caller waits for it. */
export function watchedConnection(
  connection: RedisConnection,
  onReply: (passed: Passed) => void | Promise<void>,
): RedisConnection {
  return {
    async run(what, script, ...rest) {
      const reply = await connection.run(what, script, ...rest);
      await onReply({ name: script.name, reply });
      return reply;
    },
    async send(what, command, ...rest) {
      const reply = await connection.send(what, command, ...rest);
      await onReply({ name: command, reply });
      return reply;
    },
    subscribe: (channel, listener) => connection.subscribe(channel, listener),
    close: () => connection.close(),
  };
}
