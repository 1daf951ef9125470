import {
  assistantMessage,
  type Block,
  type Message,
  type Model,
  type ModelChunk,
  type ModelRequest,
  type ToolSchema,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import { addUsage } from "@holdfast/core/plugin-kit";

export const weather: ToolSchema = {
  name: "weather",
  description: "The weather of a city.",
  inputSchema: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
};

/** A request with defaults for what a test does not care about. */
export function request(fields: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: "Be brief.",
    messages: [userMessage("Say hello.")],
    tools: [],
    signal: new AbortController().signal,
    ...fields,
  };
}

export async function chunksOf(model: Model, asked: ModelRequest): Promise<ModelChunk[]> {
  const chunks: ModelChunk[] = [];
  for await (const chunk of model.stream(asked)) chunks.push(chunk);
  return chunks;
}

/** What a call fails with. */
export async function failureOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error("expected a failure");
}

/** The message an engine makes of a reply; `ids` prefixes the session's own ids of tool calls. */
export function messageOf(chunks: readonly ModelChunk[], ids = "own"): Message {
  const blocks: Block[] = [];
  const open = new Map<string, number>();
  const providerCallIds: Record<string, string> = {};
  let usage = { inputTokens: 0, outputTokens: 0 };
  for (const chunk of chunks) {
    switch (chunk.type) {
      case "text_delta":
      case "thinking_delta": {
        const type = chunk.type === "text_delta" ? "text" : "thinking";
        const key = `${type} ${chunk.block}`;
        const index = open.get(key) ?? blocks.push({ type, text: "" }) - 1;
        open.set(key, index);
        const before = blocks[index] as Block & { type: "text" };
        blocks[index] = {
          ...before,
          text: before.text + chunk.text,
          ...(chunk.providerMetadata && { providerMetadata: chunk.providerMetadata }),
        };
        break;
      }
      case "data":
        blocks.push(chunk);
        break;
      case "tool_call": {
        const id = `${ids}-${Object.keys(providerCallIds).length}`;
        providerCallIds[id] = chunk.id;
        blocks.push({ ...chunk, id });
        break;
      }
      case "finish":
        usage = addUsage(usage, chunk.usage);
    }
  }
  return assistantMessage(blocks, { usage, metadata: { providerCallIds } });
}

/** The results of all calls of a message, one message each. */
export function resultsFor(message: Message, text = "sunny"): Message[] {
  return message.content
    .filter((block) => block.type === "tool_call")
    .map(({ id, name }) =>
      toolResultMessage({
        type: "tool_result",
        toolCallId: id,
        name,
        output: [{ type: "text", text }],
        state: "success",
      }),
    );
}
