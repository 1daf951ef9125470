import { AnswerLost } from "./failure.js";

type Fetch = typeof fetch;

/**
 * `fetch` that breaks off the answer to a POST after so many bytes: it holds one message and those sent along with it.
 * The stream a GET opens lives as long as the session and is not bounded as a whole.
 *
 * @param onTooLarge - told before it breaks off
 */
export function boundedFetch(maxBytes: number, onTooLarge: () => void): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (init?.method !== "POST" || response.body === null) return response;
    let bytes = 0;
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.byteLength;
          if (bytes > maxBytes) {
            onTooLarge();
            throw new AnswerLost("sent a message larger than maxMessageBytes");
          }
          controller.enqueue(chunk);
        },
      }),
    );
    const { status, statusText, headers } = response;
    return new Response(counted, { status, statusText, headers });
  };
}
