import type { AiSdkModel, AiSdkUrls } from "../src/index.js";

/** Call options as a provider's package would get them. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was sent.
export type Recorded = any;

/** An AI SDK model that remembers what it was asked and answers from a list of stream parts, or fails. */
export interface RecordingModel extends AiSdkModel {
  readonly calls: Recorded[];
}

/** What a {@link RecordingModel} is made of. */
export interface RecordingOptions {
  readonly version?: AiSdkModel["specificationVersion"];
  readonly provider?: string;
  readonly modelId?: string;
  readonly supportedUrls?: AiSdkUrls;
  /** The parts of a reply; throws for a call that fails. @default a short text */
  readonly reply?: (options: Recorded, index: number) => readonly unknown[];
}

/** A model whose provider is this process. */
export function recordingModel(options: RecordingOptions = {}): RecordingModel {
  const { version = "v3", provider = "test.chat", modelId = "m", supportedUrls = {} } = options;
  const calls: Recorded[] = [];
  return {
    specificationVersion: version,
    provider,
    modelId,
    supportedUrls,
    calls,
    async doStream(asked: Recorded) {
      calls.push(asked);
      const parts = options.reply?.(asked, calls.length - 1) ?? textReply("Hello.", version);
      return {
        stream: new ReadableStream({
          start(controller) {
            for (const part of parts) controller.enqueue(part);
            controller.close();
          },
        }),
      };
    },
  };
}

/** The parts of a reply of text. */
export function textReply(text: string, version: AiSdkModel["specificationVersion"]): unknown[] {
  return [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "1" },
    { type: "text-delta", id: "1", delta: text },
    { type: "text-end", id: "1" },
    finishPart("stop", version),
  ];
}

/** A finish part in the form of a generation. */
export function finishPart(
  reason: string,
  version: AiSdkModel["specificationVersion"] = "v3",
  raw: string | undefined = reason,
): unknown {
  if (version === "v2")
    return {
      type: "finish",
      finishReason: reason,
      usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
    };
  return {
    type: "finish",
    finishReason: { unified: reason, raw },
    usage: { inputTokens: { total: 3 }, outputTokens: { total: 2 } },
  };
}
