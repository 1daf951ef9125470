import { InMemoryKeyValueStore, type KeyValueStore } from "@holdfast/core";
import { beforeEach, describe, expect, test } from "vitest";
import { RemoteFilesystem } from "../../src/filesystem/index.js";
import { bytesOf, mine, textOf } from "./sample-files.js";

/** A store that counts what is read, and lets a test hold the next answer back, or make all of them fail. */
class WatchedStore extends InMemoryKeyValueStore {
  reads = 0;
  isDown = false;
  #held: Promise<void> | undefined;

  override async get(...args: Parameters<KeyValueStore["get"]>) {
    this.reads++;
    const held = this.#held;
    this.#held = undefined;
    const found = await super.get(...args);
    await held;
    if (this.isDown) throw new Error("the store is down");
    return found;
  }

  /** Holds the answer to the next read back; the function returned sends it. */
  holdNext(): () => void {
    let send = () => {};
    this.#held = new Promise((resolve) => {
      send = resolve;
    });
    return send;
  }
}

let store: WatchedStore;
let files: RemoteFilesystem;
let other: RemoteFilesystem;

beforeEach(() => {
  store = new WatchedStore();
  files = new RemoteFilesystem({ keyValue: store });
  other = new RemoteFilesystem({ keyValue: store });
});

const memory = async (namespace = mine) => textOf(await files.readCached(namespace, "MEMORY.md"));

async function readsOf(work: () => Promise<unknown>): Promise<number> {
  const before = store.reads;
  await work();
  return store.reads - before;
}

describe("a file that is read again and again", () => {
  test("is the same object, and the store is asked once", async () => {
    await other.write(mine, "MEMORY.md", bytesOf("one"));
    const first = await files.readCached(mine, "MEMORY.md");
    expect(textOf(first)).toBe("one");
    expect(
      await readsOf(async () => expect(await files.readCached(mine, "MEMORY.md")).toBe(first)),
    ).toBe(0);
    expect(await readsOf(() => files.refresh(mine, "MEMORY.md"))).toBe(1);
    expect(await files.readCached(mine, "MEMORY.md")).toBe(first);
  });

  test("shows another process's change, deletion and creation after a refresh", async () => {
    expect(await files.readCached(mine, "MEMORY.md")).toBeNull();
    for (const text of ["one", "two"]) {
      await other.write(mine, "MEMORY.md", bytesOf(text));
      await files.refresh(mine, "MEMORY.md");
      expect(await memory()).toBe(text);
    }
    await other.delete(mine, "MEMORY.md");
    await files.refresh(mine, "MEMORY.md");
    expect(await files.readCached(mine, "MEMORY.md")).toBeNull();
  });

  test("shows this object's own change at once, also while a refresh is under way", async () => {
    await files.write(mine, "MEMORY.md", bytesOf("one"));
    expect(await memory()).toBe("one");
    await files.append(mine, "MEMORY.md", bytesOf(" two"));
    expect(await memory()).toBe("one two");
    // The refresh reads the old version; its answer comes after the write has ended.
    const send = store.holdNext();
    const refreshing = files.refresh(mine, "MEMORY.md");
    await files.write(mine, "MEMORY.md", bytesOf("three"));
    send();
    await refreshing;
    expect(await memory()).toBe("three");
    await files.delete(mine, "MEMORY.md");
    expect(await files.readCached(mine, "MEMORY.md")).toBeNull();
  });

  test("never goes back to an older version when answers overtake each other", async () => {
    await other.write(mine, "MEMORY.md", bytesOf("one"));
    const send = store.holdNext();
    const slow = files.refresh(mine, "MEMORY.md");
    await other.write(mine, "MEMORY.md", bytesOf("two"));
    await files.refresh(mine, "MEMORY.md");
    send();
    await slow;
    expect(await memory()).toBe("two");
  });

  test("is read where a refresh failed, and an error is an error", async () => {
    await other.write(mine, "MEMORY.md", bytesOf("one"));
    expect(await memory()).toBe("one");
    store.isDown = true;
    await expect(files.refresh(mine, "MEMORY.md")).rejects.toThrow("the store is down");
    await expect(memory()).rejects.toThrow("the store is down");
    store.isDown = false;
    expect(await memory()).toBe("one");
  });

  test("of one user is never another's, nor a session's", async () => {
    const eve = { ...mine, userId: "eve" };
    const nobody = { ...mine, userId: null, sessionId: mine.userId ?? "" };
    await files.write(mine, "MEMORY.md", bytesOf("mine"));
    await files.write(eve, "MEMORY.md", bytesOf("eve's"));
    for (let round = 0; round < 2; round++) {
      expect(await memory()).toBe("mine");
      expect(await memory(eve)).toBe("eve's");
      expect(await files.readCached(nobody, "MEMORY.md")).toBeNull();
    }
  });

  test("that is large is read each time, and a refresh reads only its version", async () => {
    await other.write(mine, "MEMORY.md", new Uint8Array(600_000));
    expect(await readsOf(() => files.refresh(mine, "MEMORY.md"))).toBe(1);
    const first = await files.readCached(mine, "MEMORY.md");
    expect(first).toHaveLength(600_000);
    expect((await files.readCached(mine, "MEMORY.md")) === first).toBe(false);
  });

  test("is forgotten when many others were read since", async () => {
    await files.write(mine, "MEMORY.md", bytesOf("one"));
    expect(await memory()).toBe("one");
    for (let n = 0; n < 500; n++) await files.readCached({ ...mine, userId: `u${n}` }, "MEMORY.md");
    expect(await readsOf(() => memory())).toBe(1);
  });
});
