import { type Ioredis, IoredisLine, IoredisSubscriberLine } from "./ioredis-line.js";
import { ioredisOptions, sentinelOptions } from "./ioredis-options.js";
import type { Line, LineTiming, Link, SubscriberEvents, SubscriberLine } from "./line.js";

/** Connections like those of an ioredis `Redis`, with sentinels or without. */
export class IoredisLink implements Link {
  readonly #client: Ioredis;

  constructor(client: Ioredis) {
    this.#client = client;
  }

  get hasEnded(): boolean {
    return this.#client.status === "end";
  }

  onEnd(callback: () => void): () => void {
    this.#client.on("end", callback);
    return () => this.#client.off("end", callback);
  }

  openLine(timing: LineTiming): Line {
    return new IoredisLine(this.#duplicate(timing));
  }

  openSubscriber(timing: LineTiming, events: SubscriberEvents): SubscriberLine {
    return new IoredisSubscriberLine(this.#duplicate(timing), events);
  }

  #duplicate(timing: LineTiming): Ioredis {
    const { sentinels } = this.#client.options;
    return this.#client.duplicate({
      ...ioredisOptions(timing),
      ...(Array.isArray(sentinels) ? sentinelOptions : {}),
    });
  }
}
