import { isRecord } from "@holdfast/core/plugin-kit";
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
} from "@modelcontextprotocol/client";
import { LimitExceeded, malformedAnswer, tooLargeWords } from "./failure.js";

const lineFeed = 0x0a;

/**
 * Messages in what a server process writes, one per line. Lines that are not messages are left out, because many servers
 * write logs there; one that answers a request, but not as the protocol wants, becomes an error for that request.
 */
export class MessageBuffer {
  readonly #maxBytes: number;
  readonly #lines: Buffer[] = [];
  /** Parts of a line that has not ended. */
  #parts: Buffer[] = [];
  #partBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws LimitExceeded for a line that is too long */
  append(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, from)) {
      this.#add(chunk.subarray(from, at));
      this.#lines.push(this.#parts.length === 1 ? chunk.subarray(from, at) : this.#joined());
      this.#parts = [];
      this.#partBytes = 0;
      from = at + 1;
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
  }

  /** Returns the next message, or null when none is complete. */
  readMessage(): JSONRPCMessage | null {
    for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift()) {
      const message = messageIn(line.toString("utf8"));
      if (message !== null) return message;
    }
    return null;
  }

  clear(): void {
    this.#lines.length = 0;
    this.#parts = [];
    this.#partBytes = 0;
  }

  #add(part: Buffer): void {
    this.#parts.push(part);
    this.#partBytes += part.length;
    if (this.#partBytes <= this.#maxBytes) return;
    this.clear();
    throw new LimitExceeded(tooLargeWords);
  }

  #joined(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

function messageIn(line: string): JSONRPCMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isRecord(value)) return null;
  if ("method" in value)
    return isJSONRPCRequest(value) || isJSONRPCNotification(value) ? value : null;
  if (isJSONRPCResponse(value)) return value;
  const { id } = value;
  return typeof id === "string" || typeof id === "number" ? malformedAnswer(id) : null;
}
