import { Readable, Writable } from "node:stream";
import { ndJsonStream, type Stream } from "@agentclientprotocol/sdk";

/** Options of {@link stdioStream}. */
export interface StdioStreamOptions {
  /** @default process.stdin */
  readonly input?: NodeJS.ReadableStream | undefined;
  /** @default process.stdout */
  readonly output?: NodeJS.WritableStream | undefined;
  /** Largest message that is read; a larger one ends the connection. @default 33_554_432 */
  readonly maxMessageBytes?: number | undefined;
}

/** Returns the messages of an editor that has started this process: one JSON document per line, on stdin and stdout. */
export function stdioStream(options: StdioStreamOptions = {}): Stream {
  const { input = process.stdin, output = process.stdout, maxMessageBytes = 33_554_432 } = options;
  return ndJsonStream(
    Writable.toWeb(output as Writable) as WritableStream<Uint8Array>,
    Readable.toWeb(input as Readable) as ReadableStream<Uint8Array>,
    { maxMessageBytes },
  );
}
