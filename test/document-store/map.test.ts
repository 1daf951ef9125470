import {
  type DocumentClient,
  type DocumentKeys,
  documentStore,
  type StoredDocument,
  slotKey,
} from "@holdfast/core/store-kit";
import { describeDistributedStore } from "@holdfast/testing";

/** Documents that the clients of several processes share. */
type Documents = Map<string, StoredDocument>;

/** Key-value client over a map, of the kind a user of `documentStore` writes; it can be cut off from its server. */
class MapClient implements DocumentClient {
  readonly documents: Documents;
  isBroken = false;
  /** Resolves when the process goes on that stands still. */
  isRunning: Promise<void> = Promise.resolve();
  static #versions = 0;

  constructor(documents: Documents = new Map()) {
    this.documents = documents;
  }

  async get(key: string): Promise<StoredDocument | null> {
    await this.#roundTrip();
    return this.documents.get(key) ?? null;
  }

  async compareAndSet(key: string, value: string, expected: string | null): Promise<boolean> {
    await this.#roundTrip();
    if ((this.documents.get(key)?.version ?? null) !== expected) return false;
    this.documents.set(key, { value, version: String(++MapClient.#versions) });
    return true;
  }

  async delete(key: string): Promise<boolean> {
    await this.#roundTrip();
    return this.documents.delete(key);
  }

  async list(cursor = ""): Promise<DocumentKeys> {
    await this.#roundTrip();
    const keys = [...this.documents.keys()].sort().filter((key) => key > cursor);
    return keys.length > 50 ? { keys: keys.slice(0, 50), cursor: keys[49] } : { keys };
  }

  // Gives other commands a chance to come in between.
  async #roundTrip(): Promise<void> {
    await this.isRunning;
    if (this.isBroken) throw new Error("connection refused");
  }
}

const clients = new WeakMap<object, MapClient>();

function storeOver(client: MapClient, searchMs?: number) {
  const store = documentStore(client, {
    ...{ reach: "distributed", keyPrefix: "p:", pollMs: 5, searchMs },
    ...{ leaseMs: 3_000, nodeTimeoutMs: 1_000, commandTimeoutMs: 2_000 },
  });
  clients.set(store, client);
  return store;
}

function clientOf(store: object): MapClient {
  return clients.get(store) as MapClient;
}

describeDistributedStore("documentStore over a map", {
  create: () => storeOver(new MapClient()),
  client: clientOf,
  reopen: (store) => storeOver(new MapClient(clientOf(store).documents)),
  createLimited: () => storeOver(new MapClient(), 0),
  callRecords: true,
  corrupt(store, slot) {
    const { documents } = clientOf(store);
    const key = `p:${slotKey(slot)}`;
    documents.set(key, { value: documents.get(key)?.value.slice(0, -9) ?? "", version: "damaged" });
  },
  breakBackend(store) {
    clientOf(store).isBroken = true;
  },
  killHolder(store) {
    clientOf(store).isRunning = new Promise(() => {});
  },
  stallHolder(store) {
    let goOn = (): void => {};
    clientOf(store).isRunning = new Promise((resolve) => {
      goOn = resolve;
    });
    return goOn;
  },
});
