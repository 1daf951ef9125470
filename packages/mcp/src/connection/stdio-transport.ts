import type { ChildProcess } from "node:child_process";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** How long after the end of the process what is left in its pipes is read. */
const drainMs = 500;
/** How long a process that was killed may take to be gone. */
const killedMs = 2_000;

/** A server process whose end is noticed, and can be waited for by everybody who closes it. */
export class StdioTransport extends StdioClientTransport {
  #closing: Promise<void> | undefined;
  #gone: Promise<void> | undefined;

  override start(): Promise<void> {
    const started = super.start();
    const child = this["_process"] as ChildProcess | undefined;
    this.#gone = child && new Promise((resolve) => child.once("close", () => resolve()));
    // What the server started may hold its pipes for longer than it lives; the process counts as closed when they are.
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
    // The client closes on its own after a failed handshake and does not wait; whoever comes second must.
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
