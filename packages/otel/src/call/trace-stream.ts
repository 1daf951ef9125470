import type { ModelCallStep, ModelChunk } from "@holdfast/core";
import { context } from "@opentelemetry/api";
import type { ChatSpan } from "../chat-span.js";

/** The chunks of a model call; whatever is done to get them is done with its span active, and shows on it. */
export function traceStream(
  chat: ChatSpan,
  step: ModelCallStep,
  next: () => AsyncIterable<ModelChunk>,
): AsyncIterable<ModelChunk> {
  chat.sends(step);
  const active = <T>(work: () => T): T => context.with(chat.context, work);
  const failed = (error: unknown): never => {
    chat.threw(error);
    throw error;
  };
  const received = (result: IteratorResult<ModelChunk>): IteratorResult<ModelChunk> => {
    if (!result.done) chat.received(result.value);
    return result;
  };
  return {
    [Symbol.asyncIterator]: () => {
      let iterator: AsyncIterator<ModelChunk>;
      try {
        iterator = active(() => next()[Symbol.asyncIterator]());
      } catch (error) {
        return failed(error);
      }
      return {
        // Not an async function: a reply has thousands of chunks. A model's own iterator may answer without a promise.
        next: () => active(() => Promise.resolve(iterator.next())).then(received, failed),
        return: async () =>
          (await active(() => iterator.return?.())) ?? { done: true, value: undefined },
      };
    },
  };
}
