import type { ChildProcess } from "node:child_process";
import { Readable } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import {
  StdioClientTransport,
  type StdioServerParameters,
} from "@modelcontextprotocol/client/stdio";
import { BoundedWriter, type WriteLimits } from "./bounded-writer.js";
import type { LimitExceeded } from "./failure.js";
import { GivenUpCalls } from "./given-up-calls.js";
import { MessageBuffer } from "./message-buffer.js";
import { PacedReader } from "./paced-reader.js";
import type { ReadLimits } from "./read-rate.js";

/** Time after the end of the process during which its pipes are still read. */
const drainMs = 500;
/** Time a killed process may take to end. */
const killedMs = 2_000;
const maxLineChars = 4_000;
const keptLines = 10;

/** Limits of what is read from and written to a server process. */
export interface StdioLimits extends ReadLimits, WriteLimits {
  readonly maxMessageBytes: number;
}

/** Server process whose end is detected, and awaited by every caller of `close`, and whose pipes are bounded. */
export class StdioTransport extends StdioClientTransport {
  readonly #limits: StdioLimits;
  readonly #readers: PacedReader[] = [];
  readonly #givenUp = new GivenUpCalls();
  #writer: BoundedWriter | undefined;
  #exceeded: LimitExceeded | undefined;
  #closing: Promise<void> | undefined;
  #gone: Promise<void> | undefined;

  constructor(server: StdioServerParameters, limits: StdioLimits) {
    super(server);
    this.#limits = limits;
    Object.assign(this, { _readBuffer: new MessageBuffer(limits.maxMessageBytes) });
    this.onmessage = (message) => this.#givenUp.received(message);
  }

  /** Limit for which the connection was given up; undefined while none was exceeded. */
  get exceeded(): LimitExceeded | undefined {
    return this.#exceeded;
  }

  /** Number of calls that the process was told to stop and has not answered. */
  get givenUpCalls(): number {
    return this.#givenUp.size;
  }

  override start(): Promise<void> {
    const started = super.start();
    const child = this["_process"] as ChildProcess | undefined;
    if (child !== undefined) this.#bound(child);
    this.#gone = child && new Promise((resolve) => child.once("close", () => resolve()));
    // Children of the server may keep its pipes open after it ends, and "close" is emitted only once they are closed.
    child?.once("exit", () => {
      const timer = setTimeout(() => {
        for (const stream of child.stdio) stream?.destroy();
      }, drainMs);
      child.once("close", () => clearTimeout(timer));
      for (const reader of this.#readers) reader.stop();
    });
    return started;
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    this.#givenUp.sent(message);
    const isOpen = this["_process"] !== undefined;
    if (this.#writer === undefined || !isOpen) return super.send(message);
    await this.#writer.write(`${JSON.stringify(message)}\n`);
  }

  /** Closes stdin, then asks the process to end, then kills it. */
  override close(): Promise<void> {
    // The client closes by itself after a failed handshake, without waiting; the second caller has to wait.
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // What still comes is not looked at, but it has to be read for the process to end.
    (this["_process"] as ChildProcess | undefined)?.stdout?.removeAllListeners("data");
    for (const reader of this.#readers) reader.stop();
    await super.close();
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, killedMs);
    });
    await Promise.race([this.#gone, limit]);
    clearTimeout(timer);
  }

  #bound({ stdin, stdout }: ChildProcess): void {
    if (stdout !== null) this.#readers.push(new PacedReader(stdout, this.#limits));
    // Not the process's own stream, which the one it is piped into would resume.
    const { stderr } = this;
    const stderrLimits = { ...this.#limits, maxMessagesPerSecond: Number.POSITIVE_INFINITY };
    if (stderr instanceof Readable) this.#readers.push(new PacedReader(stderr, stderrLimits));
    if (stdin === null) return;
    this.#writer = new BoundedWriter(stdin, this.#limits, (error) => {
      this.#exceeded ??= error;
      this.onerror?.(error);
      void this.close();
    });
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
