import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Redis } from "ioredis";

/** Counts the commands that clients send to a server; those that its scripts call are not sent by anybody. */
export class RedisCommandCount {
  readonly #client: Redis;
  readonly #monitor: Redis;
  #count = 0;

  private constructor(client: Redis, monitor: Redis) {
    this.#client = client;
    this.#monitor = monitor;
    monitor.on("monitor", (_time: string, args: readonly string[], source: string) => {
      if (source === "lua") return;
      this.#count++;
      if (args[0]?.toLowerCase() === "echo") monitor.emit(`seen ${args[1]}`, this.#count);
    });
  }

  static async start(client: Redis): Promise<RedisCommandCount> {
    return new RedisCommandCount(client, await client.monitor());
  }

  /** Commands until now; the one that asks is among them. */
  async soFar(): Promise<number> {
    const mark = randomUUID();
    const seen = once(this.#monitor, `seen ${mark}`);
    await this.#client.echo(mark);
    return (await seen)[0] as number;
  }

  stop(): void {
    this.#monitor.disconnect();
  }
}
