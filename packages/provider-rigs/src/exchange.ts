import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import type { WireAnswer, WireEvent, WireProtocol } from "./wire-protocol.js";
import type { WireFailure, WireFault } from "./wire-reply.js";

/** One request and its answer. */
export class Exchange {
  readonly #incoming: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #gone = new AbortController();
  #broken = false;

  /**
   * @param ended - called once the connection is done with this request; `left` tells that the client went before the
   * answer was complete
   */
  constructor(incoming: IncomingMessage, response: ServerResponse, ended: (left: boolean) => void) {
    this.#incoming = incoming;
    this.#response = response;
    response.once("close", () => {
      this.#gone.abort();
      ended(!response.writableFinished && !this.#broken);
    });
  }

  /** Aborts when the connection is done with this request. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  async text(): Promise<string> {
    const pieces: Buffer[] = [];
    for await (const piece of this.#incoming) pieces.push(piece as Buffer);
    return Buffer.concat(pieces).toString("utf8");
  }

  /** Breaks the connection, which then counts as broken by the server. */
  cut(): void {
    this.#broken = true;
    this.#response.destroy();
  }

  json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    this.#response.writeHead(status, { "content-type": "application/json", ...headers });
    this.#response.end(JSON.stringify(body));
  }

  fail({ status, body, headers }: WireFailure): void {
    this.json(status, body, headers);
  }

  /** Sends an answer as an event stream, up to where the fault is. */
  async stream(protocol: WireProtocol, answer: WireAnswer, fault?: WireFault): Promise<void> {
    const newline = protocol.newline ?? "\n";
    const write = async (event: WireEvent): Promise<void> => {
      const data = typeof event.data === "string" ? event.data : JSON.stringify(event.data);
      const name = event.name === undefined ? "" : `event: ${event.name}${newline}`;
      this.#response.write(`${name}data: ${data}${newline}${newline}`);
      // Each event leaves on its own, so that a client sees a stream and not one piece.
      await setImmediate(undefined, { signal: this.gone });
    };
    this.#response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    this.#response.flushHeaders();
    for (const event of answer.events.slice(0, faultIndex(answer.events, fault)))
      await write(event);
    if (fault?.kind === "stall") return;
    if (fault?.kind === "cut") return this.cut();
    if (fault !== undefined) await write(protocol.errorEvent(fault.body));
    this.#response.end();
    if (fault === undefined) answer.delivered?.();
  }
}

/** Number of events before the fault; all of them without one. */
function faultIndex(events: readonly WireEvent[], fault: WireFault | undefined): number {
  if (fault === undefined) return events.length;
  let index = 0;
  let deltas = 0;
  for (const [position, { kind }] of events.entries()) {
    if (kind === "delta" && ++deltas > fault.afterDeltas) break;
    if (kind !== undefined) index = position + 1;
  }
  return index;
}
