import { type TcpProxy, tcpProxy } from "@holdfast/testing/servers";
import type { StoreCounters } from "./store-side.js";

/** Way to a server, on which what is sent is counted if wanted. */
export class WatchedAddress {
  /** URL to which clients connect. */
  readonly url: string;
  readonly #proxy: TcpProxy | undefined;
  #roundTrips = 0;

  private constructor(url: string, proxy: TcpProxy | undefined) {
    this.url = url;
    this.#proxy = proxy;
  }

  /** Opens a way; with `watched` through a proxy that counts and costs time. */
  static async open(url: string, watched: boolean): Promise<WatchedAddress> {
    if (!watched) return new WatchedAddress(url, undefined);
    const { hostname, port } = new URL(url);
    const proxy = await tcpProxy({ host: hostname, port: Number(port) });
    const through = new URL(url);
    through.host = `${proxy.host}:${proxy.port}`;
    const address = new WatchedAddress(through.href, proxy);
    address.#countRoundTrips(proxy);
    return address;
  }

  get isWatched(): boolean {
    return this.#proxy !== undefined;
  }

  /** Counts so far; none when it is not watched. */
  counters(): StoreCounters {
    if (this.#proxy === undefined) return {};
    return { bytesSent: this.#proxy.bytesUp, roundTrips: this.#roundTrips };
  }

  async close(): Promise<void> {
    await this.#proxy?.close();
  }

  /** A further piece of a request comes before any answer. */
  #countRoundTrips(proxy: TcpProxy): void {
    let answered = -1;
    proxy.losesReply = () => {
      if (proxy.bytesDown !== answered) this.#roundTrips++;
      answered = proxy.bytesDown;
      return false;
    };
  }
}
