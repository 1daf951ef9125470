import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Address } from "./redis-command.js";

/**
 * Behaviour of a proxy:
 * - `pass`: everything goes through;
 * - `hold`: nothing goes through and connections stay open, as with a dead network: neither side learns that the other has
 *   closed;
 * - `drop-replies`: requests reach the server, its answers are lost, connections stay open;
 * - `kill-on-reply`: requests reach the server, and the connection breaks when it answers.
 */
export type ProxyMode = "pass" | "hold" | "drop-replies" | "kill-on-reply";

/** A bad network between a client and a server, on loopback. */
export interface TcpProxy extends Address, AsyncDisposable {
  /** May be changed at any time. What was held goes through when the mode becomes `pass` again. */
  mode: ProxyMode;
  /** Latency: time by which everything is held up in each direction. May be changed at any time. @default 0 */
  delayMs: number;
  /** Bytes that went to the server and back so far. */
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** Connections open right now. */
  readonly connections: number;
  /**
   * Sees every piece of a request before it is sent on. When it returns true, the reply to it is lost: the connection
   * breaks once the server answers, so that the request was certainly carried out.
   *
   * @param connection - which of the connections, counted from 0
   */
  losesReply: ((request: Buffer, connection: number) => boolean) | undefined;
  /** Breaks all connections. */
  reset(): void;
  close(): Promise<void>;
}

/**
 * Starts a proxy in front of a server.
 *
 * @example
 * await using proxy = await tcpProxy(redis);
 * proxy.mode = "hold";
 */
export async function tcpProxy(target: Address): Promise<TcpProxy> {
  const proxy = new LoopbackProxy(target);
  await proxy.listen();
  return proxy;
}

class LoopbackProxy implements TcpProxy {
  readonly host = "127.0.0.1";
  bytesUp = 0;
  bytesDown = 0;
  delayMs = 0;
  losesReply: ((request: Buffer, connection: number) => boolean) | undefined;
  #accepted = 0;
  readonly #target: Address;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  #mode: ProxyMode = "pass";

  constructor(target: Address) {
    this.#target = target;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  async listen(): Promise<void> {
    this.#server.listen(0, this.host);
    await once(this.#server, "listening");
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  get mode(): ProxyMode {
    return this.#mode;
  }

  set mode(mode: ProxyMode) {
    this.#mode = mode;
    for (const link of this.#links) link.holdIf(mode === "hold");
  }

  get connections(): number {
    return this.#links.size;
  }

  reset(): void {
    for (const link of this.#links) link.cut();
  }

  async close(): Promise<void> {
    this.reset();
    if (!this.#server.listening) return;
    await new Promise((resolve) => this.#server.close(resolve));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #accept(client: Socket): void {
    const server = connect(this.#target.port, this.#target.host);
    const link = new Link(client, server);
    const connection = this.#accepted++;
    let replyIsLost = false;
    const [up, down] = [new Latency(), new Latency()];
    client.on("data", (data) => {
      this.bytesUp += data.length;
      if (this.losesReply?.(data, connection)) replyIsLost = true;
      up.pass(this.delayMs, () => server.write(data));
    });
    server.on("data", (data) => {
      if (replyIsLost || this.#mode === "kill-on-reply") return link.cut();
      if (this.#mode === "drop-replies") return;
      this.bytesDown += data.length;
      down.pass(this.delayMs, () => client.write(data));
    });
    this.#links.add(link);
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on("error", () => link.ended());
      socket.on("close", () => {
        if (link.ended()) this.#links.delete(link);
      });
    }
    link.holdIf(this.#mode === "hold");
  }
}

/** A client's connection and the one made for it. */
class Link {
  readonly #sockets: readonly Socket[];
  #isHeld = false;
  #hasEnded = false;

  constructor(...sockets: readonly Socket[]) {
    this.#sockets = sockets;
  }

  holdIf(held: boolean): void {
    this.#isHeld = held;
    for (const socket of this.#sockets) {
      if (held) socket.pause();
      else socket.resume();
    }
    if (!held && this.#hasEnded) this.cut();
  }

  /** Ends the other side as well, unless nothing may go through; returns whether it did. */
  ended(): boolean {
    this.#hasEnded = true;
    if (!this.#isHeld) this.cut();
    return !this.#isHeld;
  }

  cut(): void {
    this.#isHeld = false;
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Holds up one direction of a connection, keeping the order of what passes. */
class Latency {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  pass(ms: number, send: () => unknown): void {
    if (ms === 0 && this.#waiting === 0) {
      send();
      return;
    }
    this.#waiting++;
    const due = new Promise((resolve) => setTimeout(resolve, ms));
    this.#last = Promise.all([this.#last, due]).then(() => {
      this.#waiting--;
      send();
    });
  }
}
