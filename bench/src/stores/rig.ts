import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { AgentNode } from "./agent-node.js";
import type { BenchServers } from "./bench-servers.js";
import { jsonSide } from "./json-side.js";
import { mysqlSide } from "./mysql-side.js";
import type { NodePlace } from "./node-place.js";
import { openNode } from "./open-node.js";
import { redisSide } from "./redis-side.js";
import type { StoreName, StoreSide } from "./store-side.js";
import { WatchedAddress } from "./watched-address.js";

const sides = { redis: redisSide, mysql: mysqlSide, json: jsonSide };

/** A place in a store that nobody else uses, with all that is needed to measure turns there. */
export class Rig {
  readonly store: StoreName;
  /** Place at which nodes of other processes find the same sessions. */
  readonly place: NodePlace;
  readonly side: StoreSide;
  readonly #address: WatchedAddress;
  readonly #nodes: AgentNode[] = [];

  private constructor(
    store: StoreName,
    place: NodePlace,
    side: StoreSide,
    address: WatchedAddress,
  ) {
    this.store = store;
    this.place = place;
    this.side = side;
    this.#address = address;
  }

  /** Opens a new place; with `watched` what is sent is counted, which costs time. */
  static async open(
    store: StoreName,
    servers: BenchServers,
    { watched = false }: { readonly watched?: boolean } = {},
  ): Promise<Rig> {
    // As long as the default one, since bytes are counted.
    const prefix = `b${randomBytes(4).toString("hex").slice(1)}_`;
    const directory = join(servers.directory, prefix);
    const workspace = join(directory, "workspace");
    await mkdir(workspace, { recursive: true });
    const url = store === "json" ? "" : await servers.url(store);
    const address = await WatchedAddress.open(url, watched && url !== "");
    const place = { url: address.url, prefix, directory, workspace };
    return new Rig(store, place, await sides[store](place, url, address), address);
  }

  /** Opens a node on this place. */
  async openNode(): Promise<AgentNode> {
    const node = await openNode(this.store, this.place);
    this.#nodes.push(node);
    return node;
  }

  /** Closes nodes and connections. */
  async close(): Promise<void> {
    for (const node of this.#nodes) await node.close();
    await this.side.close();
    await this.#address.close();
  }
}
