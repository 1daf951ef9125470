// Mistakes in a client of `documentStore`, which must show in the command that has them.
import type { AgentStateStore } from "@holdfast/core";
import {
  type DocumentClient,
  type DocumentKeys,
  documentStore,
  type StoredDocument,
} from "@holdfast/core/store-kit";
import { documentClientCases } from "../../src/distributed-store/document-client-cases.js";
import { catches } from "./catches.js";

/** A client over a map without a mistake. */
class SoundClient implements DocumentClient {
  readonly documents = new Map<string, StoredDocument>();
  protected writes = 0;

  async get(key: string): Promise<StoredDocument | null> {
    return this.documents.get(key) ?? null;
  }

  async compareAndSet(key: string, value: string, expected: string | null): Promise<boolean> {
    if ((this.documents.get(key)?.version ?? null) !== expected) return false;
    this.documents.set(key, { value, version: this.version(value) });
    return true;
  }

  async delete(key: string): Promise<boolean> {
    return this.documents.delete(key);
  }

  async list(cursor = ""): Promise<DocumentKeys> {
    const keys = [...this.documents.keys()].sort().filter((key) => key > cursor);
    return keys.length > 50 ? { keys: keys.slice(0, 50), cursor: keys[49] } : { keys };
  }

  protected version(_value: string): string {
    return `v${++this.writes}`;
  }
}

function casesOf(client: new () => DocumentClient) {
  const clients = new WeakMap<AgentStateStore, DocumentClient>();
  const create = () => {
    const made = new client();
    const store = documentStore(made);
    clients.set(store, made);
    return store;
  };
  return documentClientCases({ create }, (store) => clients.get(store) as DocumentClient);
}

class AnswersUndefined extends SoundClient {
  override async get(key: string) {
    return this.documents.get(key) as StoredDocument;
  }
}
catches("undefined for an absent key", casesOf(AnswersUndefined), "get answers null");

class Parses extends SoundClient {
  override async get(key: string) {
    const found = await super.get(key);
    return found && { ...found, value: found.value.trim().replaceAll("text", "") };
  }
}
catches("a changed value", casesOf(Parses), "get answers null");

class Overwrites extends SoundClient {
  override compareAndSet(key: string, value: string, expected: string | null) {
    return super.compareAndSet(key, value, expected && (this.documents.get(key)?.version ?? ""));
  }
}
catches("a write at an earlier version", casesOf(Overwrites), "and only then");

class ChecksTooEarly extends SoundClient {
  override async compareAndSet(key: string, value: string, expected: string | null) {
    if (((await this.get(key))?.version ?? null) !== expected) return false;
    await null;
    this.documents.set(key, { value, version: this.version(value) });
    return true;
  }
}
catches("a check apart from the write", casesOf(ChecksTooEarly), "at the same version is made");

class HashesValues extends SoundClient {
  protected override version(value: string) {
    return `h${value.length}`;
  }
}
catches("a hash as version", casesOf(HashesValues), "a version of its own");

class CountsFromOne extends SoundClient {
  override async delete(key: string) {
    this.writes = 0;
    return super.delete(key);
  }
}
catches("versions that begin again", casesOf(CountsFromOne), "a version of its own");

class DeletesQuietly extends SoundClient {
  override async delete(key: string) {
    this.documents.delete(key);
    return true;
  }
}
catches("a delete that is always true", casesOf(DeletesQuietly), "delete answers true if");

class ListsOnePage extends SoundClient {
  override async list() {
    return { keys: [...this.documents.keys()].slice(0, 50) };
  }
}
catches("a list of one page", casesOf(ListsOnePage), "list names every key");

class NullCursor extends SoundClient {
  override async list() {
    return { keys: [...this.documents.keys()], cursor: null as unknown as undefined };
  }
}
catches("null as the last cursor", casesOf(NullCursor), "list names every key");

class OneByteCharacters extends SoundClient {
  override compareAndSet(key: string, value: string, expected: string | null) {
    const bytes = Buffer.from(value, "latin1").toString("latin1");
    return super.compareAndSet(key, bytes, expected);
  }
}
catches("a column of one-byte characters", casesOf(OneByteCharacters), "every character");
