import type { AgentEvent, EventFeed, Model, ModelChunk } from "@holdfast/core";
import { finish, modelOf } from "./models.js";

/** Reads events to their end. */
export async function readAll(events: AsyncIterable<AgentEvent> | null): Promise<AgentEvent[]> {
  const list: AgentEvent[] = [];
  if (events) for await (const event of events) list.push(event);
  return list;
}

/** Text of a run: a run that goes on with another one says it again, from where that one was saved last. */
export function said(events: readonly AgentEvent[]): string {
  let text = "";
  for (const event of events) {
    if (event.type === "run_resumed") text = "";
    if (event.type === "text_delta") text += event.text;
  }
  return text;
}

/** A model that says what it is told to, piece by piece, and ends when it is told so. */
export class DictatedModel {
  readonly #chunks: ModelChunk[] = [];
  #wake = () => {};
  readonly model: Model = modelOf(() => this.#play());

  say(...texts: readonly string[]): void {
    this.#push(...texts.map((text) => ({ type: "text_delta" as const, text })));
  }

  end(): void {
    this.#push(finish);
  }

  #push(...chunks: readonly ModelChunk[]): void {
    this.#chunks.push(...chunks);
    this.#wake();
  }

  async *#play(): AsyncGenerator<ModelChunk> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) yield chunk;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      if (chunk?.type === "finish") return;
    }
  }
}

/** A feed with a fault: `before` runs before each command, and may throw or hang. */
export function faultyFeed(
  feed: EventFeed,
  before: (command: "append" | "read" | "open" | "delete") => void | Promise<void>,
): EventFeed {
  return {
    contract: 1,
    kind: feed.kind,
    reach: feed.reach,
    async append(...args) {
      await before("append");
      return feed.append(...args);
    },
    async read(...args) {
      await before("read");
      return feed.read(...args);
    },
    async open(...args) {
      await before("open");
      return feed.open(...args);
    },
    async delete(...args) {
      await before("delete");
      return feed.delete(...args);
    },
  };
}
