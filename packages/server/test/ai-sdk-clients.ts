import * as ai5 from "ai-5";
import * as ai6 from "ai-6";
import * as ai7 from "ai-7";
import type { AiSdkVersion, UiChunk } from "../src/ai-sdk/ui-chunk.js";
import type { UiMessage } from "../src/ai-sdk/ui-message.js";

/** The AI SDK in three versions, as much of it as the tests need in one form. */
interface Client {
  readonly uiMessageChunkSchema: () => {
    validate?(value: unknown): unknown;
  };
  readUIMessageStream(options: {
    message?: unknown;
    stream: ReadableStream<never>;
    onError?(error: unknown): void;
  }): AsyncIterable<unknown>;
}

export const clients = { 5: ai5, 6: ai6, 7: ai7 } as unknown as Readonly<
  Record<AiSdkVersion, Client>
>;

/** Folds chunks with the client's own reader, once its own schema has accepted each of them. */
export async function fold(
  version: AiSdkVersion,
  chunks: readonly UiChunk[],
  message?: UiMessage,
): Promise<{ readonly message: UiMessage; readonly errors: readonly string[] }> {
  const client = clients[version];
  const schema = client.uiMessageChunkSchema();
  for (const chunk of chunks) {
    const checked = (await schema.validate?.(chunk)) as { success: boolean; error?: unknown };
    if (!checked.success)
      throw new Error(`ai ${version} refuses ${JSON.stringify(chunk)}: ${checked.error}`);
  }
  const errors: string[] = [];
  const stream = new ReadableStream<never>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(structuredClone(chunk) as never);
      controller.close();
    },
  });
  let last: unknown = message;
  for await (const snapshot of client.readUIMessageStream({
    ...(message && { message: structuredClone(message) }),
    stream,
    onError: (error) => errors.push(error instanceof Error ? error.message : String(error)),
  }))
    last = snapshot;
  return { message: JSON.parse(JSON.stringify(last)), errors };
}
