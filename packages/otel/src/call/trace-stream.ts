import type { ModelCallStep, ModelChunk } from "@holdfast/core";
import { context } from "@opentelemetry/api";
import type { ChatSpan } from "../chat-span.js";

/** The chunks of a model call; whatever is done to get them is done with its span active, and shows on it. */
export function traceStream(
  chat: ChatSpan,
  step: ModelCallStep,
  next: () => AsyncIterable<ModelChunk>,
): AsyncIterable<ModelChunk> {
  return {
    [Symbol.asyncIterator]: () => {
      const active = <T>(work: () => T): T => context.with(chat.context, work);
      // Inner hooks may replace the request until the first chunk is asked for.
      let isSent = false;
      const sent = (): void => {
        if (isSent) return;
        isSent = true;
        chat.sent(step.request, step.state.summary !== null);
      };
      const iterator = active(() => next()[Symbol.asyncIterator]());
      return {
        // Not an async function: a reply has thousands of chunks.
        next: () =>
          active(() => iterator.next()).then(
            (result) => {
              sent();
              if (!result.done) chat.received(result.value);
              return result;
            },
            (error) => {
              sent();
              chat.threw(error);
              throw error;
            },
          ),
        return: async () =>
          (await active(() => iterator.return?.())) ?? { done: true, value: undefined },
      };
    },
  };
}
