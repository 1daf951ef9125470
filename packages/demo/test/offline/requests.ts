import {
  assistantMessage,
  type Message,
  type Model,
  type ModelChunk,
  type ModelRequest,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";

/** A request with the tools of a given name. */
export function request(
  messages: readonly Message[],
  tools: readonly string[] = [],
  rest: Partial<ModelRequest> = {},
): ModelRequest {
  return {
    system: "",
    messages,
    tools: tools.map((name) => ({ name, description: name, inputSchema: { type: "object" } })),
    signal: new AbortController().signal,
    ...rest,
  };
}

/** A question, and what tools answered to it so far. */
export function asked(
  question: string,
  ...steps: readonly (readonly [name: string, ...output: string[]])[]
): Message[] {
  return [
    assistantMessage("I am here."),
    userMessage(question),
    ...steps.flatMap(([name, ...output], index) => {
      const toolCallId = `c${index}`;
      return [
        assistantMessage([{ type: "tool_call", id: toolCallId, name, input: {} }]),
        toolResultMessage({
          ...{ type: "tool_result", toolCallId, name, state: "success" },
          output: output.map((text) => ({ type: "text", text }) as const),
        }),
      ];
    }),
  ];
}

/** Everything a model streams. */
export async function chunksOf(model: Model, asked: ModelRequest): Promise<ModelChunk[]> {
  const chunks: ModelChunk[] = [];
  for await (const chunk of model.stream(asked)) chunks.push(chunk);
  return chunks;
}

/** The text of a reply. */
export function textIn(chunks: readonly ModelChunk[]): string {
  return chunks.map((chunk) => (chunk.type === "text_delta" ? chunk.text : "")).join("");
}
