import type { Middleware, ModelChunk } from "@holdfast/core";

/** Applies `redact` to what models write: texts, thinking and the inputs of tool calls. */
export function redactReplies(redact: (text: string) => string): Middleware {
  const inTexts = (_key: string, value: unknown) =>
    typeof value === "string" ? redact(value) : value;
  return {
    name: "redact-replies",
    async *onModelCall(_step, next) {
      const reply: ModelChunk[] = []; // with one chunk per block
      for await (const chunk of next()) {
        if (chunk.type === "tool_call_delta") continue; // the whole call follows
        if (chunk.type === "text_delta" || chunk.type === "thinking_delta") {
          const { type, block, text } = chunk;
          const place =
            block === undefined
              ? reply.length - 1
              : reply.findIndex((one) => one.type === type && one.block === block);
          const begun = reply[place];
          if (begun?.type === type && begun.block === block)
            reply[place] = { ...begun, ...chunk, text: begun.text + text };
          else reply.push(chunk);
        } else reply.push(chunk);
      }
      for (const chunk of reply) {
        if (chunk.type === "text_delta") yield { ...chunk, text: redact(chunk.text) };
        else if (chunk.type === "tool_call")
          yield { ...chunk, input: JSON.parse(JSON.stringify(chunk.input), inTexts) };
        // Providers sign thinking: with other words they would refuse it.
        else if (chunk.type !== "thinking_delta" || redact(chunk.text) === chunk.text) yield chunk;
      }
    },
  };
}
