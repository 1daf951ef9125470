import { AnswerLost } from "./failure.js";

type Fetch = typeof fetch;

/** What a message that is too large does to whoever reads it. */
export const tooLargeWords = "sent a message larger than maxMessageBytes";

/**
 * `fetch` that breaks off an answer when a message in it has more bytes than that: the whole of it, or one event of a
 * stream of events.
 *
 * @param onTooLarge - told before it breaks off, with what was sent
 */
export function boundedFetch(
  maxBytes: number,
  onTooLarge: (sent: RequestInit | undefined) => void,
): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    const isStream = /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
    const size = isStream ? new EventSize() : new WholeSize();
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          if (size.after(chunk) > maxBytes) {
            onTooLarge(init);
            throw new AnswerLost(tooLargeWords);
          }
          controller.enqueue(chunk);
        },
      }),
    );
    return new Response(counted, { status, statusText, headers });
  };
}

class WholeSize {
  #bytes = 0;

  after(chunk: Uint8Array): number {
    this.#bytes += chunk.byteLength;
    return this.#bytes;
  }
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** The bytes of the event that is being read: an empty line ends it. */
class EventSize {
  #event = 0;
  #line = 0;
  #lastByte: number | undefined;

  /** The largest size an event had in this chunk. */
  after(chunk: Uint8Array): number {
    let largest = 0;
    let from = 0;
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, from)) {
      // An empty line may end in CR LF.
      const before = at === 0 ? this.#lastByte : chunk[at - 1];
      this.#line += at - from - (before === carriageReturn ? 1 : 0);
      this.#event += at + 1 - from;
      largest = Math.max(largest, this.#event);
      if (this.#line === 0) this.#event = 0;
      this.#line = 0;
      from = at + 1;
    }
    this.#line += chunk.length - from;
    this.#event += chunk.length - from;
    this.#lastByte = chunk.at(-1);
    return Math.max(largest, this.#event);
  }
}
