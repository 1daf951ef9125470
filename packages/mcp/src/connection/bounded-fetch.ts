import { setTimeout as sleep } from "node:timers/promises";
import { longestTimerMs } from "@holdfast/core/store-kit";
import { AnswerLost, tooLargeWords } from "./failure.js";
import { type ReadLimits, ReadRate } from "./read-rate.js";

type Fetch = typeof fetch;

/** Limits of what is read from a server. */
export interface FetchLimits extends ReadLimits {
  readonly maxMessageBytes: number;
}

/**
 * Returns a `fetch` that aborts a response when a message in it has more than `maxMessageBytes`: the whole body, or one event
 * of an event stream. All responses together are read no faster than the limits allow.
 *
 * @param onTooLarge - called with the request before the response is aborted
 */
export function boundedFetch(
  limits: FetchLimits,
  onTooLarge: (sent: RequestInit | undefined) => void,
): Fetch {
  const rate = new ReadRate(limits);
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    const isStream = /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
    const size = isStream ? new EventSize() : new WholeSize();
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        async transform(chunk, controller) {
          const before = size.messages;
          if (size.after(chunk) > limits.maxMessageBytes) {
            onTooLarge(init);
            throw new AnswerLost(tooLargeWords);
          }
          const waitMs = rate.after(size.messages - before, chunk.byteLength);
          controller.enqueue(chunk);
          if (waitMs > 0) await sleep(Math.min(waitMs, longestTimerMs), undefined, { ref: false });
        },
      }),
    );
    return new Response(counted, { status, statusText, headers });
  };
}

class WholeSize {
  readonly messages = 0;
  #bytes = 0;

  after(chunk: Uint8Array): number {
    this.#bytes += chunk.byteLength;
    return this.#bytes;
  }
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Counts the bytes of the current event, which ends with an empty line. */
class EventSize {
  /** Events that have ended. */
  messages = 0;
  #event = 0;
  #line = 0;
  #lastByte: number | undefined;

  /** Returns the largest size of an event up to the end of this chunk. */
  after(chunk: Uint8Array): number {
    let largest = 0;
    let from = 0;
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, from)) {
      // An empty line may end in CR LF.
      const before = at === 0 ? this.#lastByte : chunk[at - 1];
      this.#line += at - from - (before === carriageReturn ? 1 : 0);
      this.#event += at + 1 - from;
      largest = Math.max(largest, this.#event);
      if (this.#line === 0) {
        this.#event = 0;
        this.messages++;
      }
      this.#line = 0;
      from = at + 1;
    }
    this.#line += chunk.length - from;
    this.#event += chunk.length - from;
    this.#lastByte = chunk.at(-1);
    return Math.max(largest, this.#event);
  }
}
