import { InMemoryKeyValueStore, type KeyValueStore } from "@holdfast/core";
import { expect, test } from "vitest";
import { RemoteFilesystem } from "../../src/filesystem/index.js";
import { leftovers } from "./remote-cases.js";
import { mine } from "./sample-files.js";

interface Hooks {
  /** Runs before the commands of this kind. */
  readonly list?: (namespace: readonly string[]) => Promise<void>;
  readonly put?: (namespace: readonly string[]) => Promise<void>;
}

/** One node's view of a store, held up at chosen commands. */
function heldUp(store: KeyValueStore, hooks: Hooks): KeyValueStore {
  return {
    contract: 1,
    kind: "held up",
    reach: "process",
    get: (...args) => store.get(...args),
    getMany: (...args) => store.getMany(...args),
    delete: (...args) => store.delete(...args),
    async put(...args) {
      await hooks.put?.(args[0]);
      return store.put(...args);
    },
    async list(...args) {
      await hooks.list?.(args[0]);
      return store.list(...args);
    },
  };
}

/** Something that happens once and can be waited for. */
function signal(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((happened) => {
    resolve = happened;
  });
  return { promise, resolve: () => resolve() };
}

const filled = (byte: number): Uint8Array => new Uint8Array(300_000).fill(byte);

/**
 * A second node begins to write while the first is about to sweep, and has stored its chunks but not its manifest when
 * the sweep looks: nothing tells those chunks from leftovers but what they are based on.
 */
async function sweepAmidWrite(first: (files: RemoteFilesystem) => Promise<unknown>): Promise<void> {
  const store = new InMemoryKeyValueStore();
  await new RemoteFilesystem({ keyValue: store }).write(mine, "a", filled(1));
  const swept = signal();
  const stored = signal();
  let chunksPut = 0;
  const second = new RemoteFilesystem({
    keyValue: heldUp(store, {
      async put(namespace) {
        if (namespace.at(-1) === "chunks") chunksPut++;
        else if (chunksPut > 0) {
          stored.resolve();
          await swept.promise;
        }
      },
    }),
  });
  let writing: Promise<void> | undefined;
  const sweeping = new RemoteFilesystem({
    keyValue: heldUp(store, {
      async list(namespace) {
        if (namespace.at(-1) !== "chunks") return;
        writing ??= second.write(mine, "a", filled(3));
        await stored.promise;
      },
    }),
  });
  await first(sweeping);
  swept.resolve();
  await writing;
  expect(chunksPut).toBeGreaterThan(0);
  const read = await second.read(mine, "a");
  expect(read?.length).toBe(300_000);
  expect(read?.every((byte) => byte === 3)).toBe(true);
  expect(await leftovers(store)).toEqual([]);
}

test("a sweep after a write leaves the chunks of a write that has just begun", () =>
  sweepAmidWrite((files) => files.write(mine, "a", filled(2))));

test("a sweep after an append leaves the chunks of a write that has just begun", () =>
  sweepAmidWrite((files) => files.append(mine, "a", filled(2).subarray(0, 10_000))));

test("a deletion leaves the chunks of a write that has just begun, or makes it begin again", () =>
  sweepAmidWrite((files) => files.delete(mine, "a")));
