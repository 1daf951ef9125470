import { type Block, type Message, type ToolResultState, toolResultMessage } from "@holdfast/core";
import { type AiSdkOptions, fromAiSdk } from "../src/index.js";
import { type Recorded, type RecordingOptions, recordingModel } from "./recording-model.js";
import { chunksOf, request, weather } from "./requests.js";

/** What a provider's package is given for these messages. */
export async function sent(
  messages: readonly Message[],
  model: RecordingOptions = {},
  options: AiSdkOptions = {},
  tools = [weather],
): Promise<Recorded> {
  const sdkModel = recordingModel(model);
  await chunksOf(fromAiSdk(sdkModel, options), request({ messages, tools }));
  return sdkModel.calls[0];
}

/** The prompt of these messages, without the system prompt. */
export async function prompt(
  messages: readonly Message[],
  model: RecordingOptions = {},
): Promise<Recorded[]> {
  const { prompt: all } = await sent(messages, model);
  return all.slice(1);
}

/** A call of the tool `weather`. */
export function called(fields: Partial<Block & { type: "tool_call" }> = {}): Block {
  return { type: "tool_call", id: "own", name: "weather", input: { city: "Rome" }, ...fields };
}

/** The result of {@link called}. */
export function result(
  output: readonly (Block & { type: "text" | "data" })[],
  state: ToolResultState = "success",
): Message {
  return toolResultMessage({
    type: "tool_result",
    toolCallId: "own",
    name: "weather",
    output,
    state,
  });
}
