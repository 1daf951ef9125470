import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** Time after the end of the process during which its pipes are still read. */
const drainMs = 500;
/** Time a killed process may take to end. */
const killedMs = 2_000;
const maxLineChars = 4_000;
const keptLines = 10;

/** Server process whose end is detected, and awaited by every caller of `close`. */
export class StdioTransport extends StdioClientTransport {
  #closing: Promise<void> | undefined;
  #gone: Promise<void> | undefined;

  override start(): Promise<void> {
    const started = super.start();
    const child = this["_process"] as ChildProcess | undefined;
    this.#gone = child && new Promise((resolve) => child.once("close", () => resolve()));
    // Children of the server may keep its pipes open after it ends, and "close" is emitted only once they are closed.
    child?.once("exit", () => {
      const timer = setTimeout(() => {
        for (const stream of child.stdio) stream?.destroy();
      }, drainMs);
      child.once("close", () => clearTimeout(timer));
    });
    return started;
  }

  /** Closes stdin, then asks the process to end, then kills it. */
  override close(): Promise<void> {
    // The client closes by itself after a failed handshake, without waiting; the second caller has to wait.
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await super.close();
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, killedMs);
    });
    await Promise.race([this.#gone, limit]);
    clearTimeout(timer);
  }
}

/** Reads the stderr of a server process, which would block on a full pipe, and keeps the last lines. */
export class StderrLines {
  readonly #last: string[] = [];
  #rest = "";

  constructor(stream: Readable, onLine: ((line: string) => void) | undefined) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      const lines = (this.#rest + text).split("\n");
      // Bounded even for a line that never ends.
      this.#rest = (lines.pop() ?? "").slice(0, maxLineChars);
      for (const line of lines) this.#add(line.slice(0, maxLineChars), onLine);
    });
    stream.on("end", () => {
      if (this.#rest !== "") this.#add(this.#rest, onLine);
      this.#rest = "";
    });
    stream.on("error", () => {});
  }

  /** The last few lines, including a partial one. */
  get last(): readonly string[] {
    return [...this.#last, this.#rest].filter((line) => line.trim() !== "");
  }

  #add(line: string, onLine: ((line: string) => void) | undefined): void {
    this.#last.push(line);
    if (this.#last.length > keptLines) this.#last.shift();
    try {
      onLine?.(line);
    } catch {
      // A listener that throws must not end the connection.
    }
  }
}
