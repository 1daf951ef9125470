import type { Filesystem, KeyValueStore } from "@holdfast/core";
import { describeFilesystem } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { RemoteFilesystem } from "../../src/filesystem/index.js";
import { CrashingKeyValueStore } from "./crashing-key-value-store.js";
import { bytesOf, mine, textOf } from "./sample-files.js";

/** Access to the store under the files. */
export interface RemoteCasesOptions {
  /** A store that is empty and isolated from every other; called once per test. */
  create(): KeyValueStore | Promise<KeyValueStore>;
  cleanup?(store: KeyValueStore): void | Promise<void>;
  /** Commands of an operation between two crashes that are tried. @default 1 */
  readonly crashStep?: number | undefined;
}

const path = "d/file.txt";
const small = "small";
const large = "漢字 and text; ".repeat(18_000);
const larger = "another version. ".repeat(20_000);
const line = "a line of a log\n".repeat(500);

/** Every operation that can be cut short: what is there before, and what may be read after. */
const operations: readonly {
  readonly title: string;
  readonly before: string | null;
  readonly after: string | null;
  run(files: Filesystem): Promise<unknown>;
}[] = [
  {
    title: "a first write",
    before: null,
    after: large,
    run: (files) => files.write(mine, path, bytesOf(large)),
  },
  {
    title: "a large write over a small one",
    before: small,
    after: large,
    run: (files) => files.write(mine, path, bytesOf(large)),
  },
  {
    title: "a large write over a large one",
    before: large,
    after: larger,
    run: (files) => files.write(mine, path, bytesOf(larger)),
  },
  {
    title: "a small write over a large one",
    before: large,
    after: small,
    run: (files) => files.write(mine, path, bytesOf(small)),
  },
  {
    title: "a small append",
    before: large,
    after: large + small,
    run: (files) => files.append(mine, path, bytesOf(small)),
  },
  {
    title: "an append that is stored apart",
    before: small,
    after: small + line,
    run: (files) => files.append(mine, path, bytesOf(line)),
  },
  {
    title: "an append that takes the last part along",
    before: line,
    after: line + line,
    run: (files) => files.append(mine, path, bytesOf(line)),
  },
  { title: "a deletion", before: large, after: null, run: (files) => files.delete(mine, path) },
];

/** Registers what `RemoteFilesystem` must do over a key-value store. */
export function describeRemoteFilesystem(name: string, options: RemoteCasesOptions): void {
  const { crashStep = 1 } = options;
  const stores = new WeakMap<Filesystem, KeyValueStore>();
  const open = (keyValue: KeyValueStore): Filesystem => {
    const files = new RemoteFilesystem({ keyValue });
    stores.set(files, keyValue);
    return files;
  };
  const storeOf = (files: Filesystem): KeyValueStore => {
    const store = stores.get(files);
    if (store === undefined) throw new Error("not a filesystem of this test");
    return store;
  };
  const cleaned = new WeakSet<KeyValueStore>();
  const cleanup = async (store: KeyValueStore): Promise<void> => {
    if (cleaned.has(store)) return;
    cleaned.add(store);
    await options.cleanup?.(store);
  };

  describeFilesystem(`RemoteFilesystem over ${name}`, {
    create: async () => open(await options.create()),
    reopen: (files) => open(storeOf(files)),
    cleanup: (files) => cleanup(storeOf(files)),
  });

  describe(`RemoteFilesystem over ${name}`, () => {
    test.each(operations)(
      "$title that is cut short anywhere leaves the old file or the new one, and nothing for ever",
      async ({ before, after, run }) => {
        const store = await options.create();
        try {
          const outcomes = new Set<string | null>();
          for (let command = 1, isOver = false; !isOver; command += crashStep) {
            for (const when of ["before", "after"] as const) {
              const files = new RemoteFilesystem({ keyValue: store });
              await files.delete(mine, path);
              if (before !== null) await files.write(mine, path, bytesOf(before));
              const dying = new CrashingKeyValueStore(store, { command, when });
              await run(new RemoteFilesystem({ keyValue: dying })).catch(() => undefined);
              isOver = !dying.hasCrashed;
              const found = textOf(await files.read(mine, path));
              // Compared first: no failure should print half a megabyte.
              expect(found === before || found === after, `crash ${when} ${command}`).toBe(true);
              outcomes.add(found);
              const listed = (await files.list(mine)).map((info) => info.path);
              expect(listed).toEqual(found === null ? [] : ["d", path]);
              await files.write(mine, path, bytesOf(large));
              expect(await leftovers(store)).toEqual([]);
              await files.delete(mine, path);
              expect(await everyKey(store)).toEqual([]);
            }
          }
          expect(outcomes).toEqual(new Set([before, after]));
        } finally {
          await cleanup(store);
        }
      },
    );

    test("appends of two nodes at once lose nothing and leave nothing behind", async () => {
      const store = await options.create();
      try {
        const nodes = ["left", "right"];
        const record = (node: string, at: number) =>
          `${node} ${at} ${"x".repeat((at * 397) % 3_000)}\n`;
        await Promise.all(
          nodes.map(async (node) => {
            const files = new RemoteFilesystem({ keyValue: store });
            for (let at = 0; at < 60; at++)
              await files.append(mine, path, bytesOf(record(node, at)));
          }),
        );
        const files = new RemoteFilesystem({ keyValue: store });
        const lines = textOf(await files.read(mine, path))?.match(/.*\n/g) ?? [];
        for (const node of nodes)
          expect(lines.filter((each) => each.startsWith(node))).toEqual(
            Array.from({ length: 60 }, (_, at) => record(node, at)),
          );
        expect(lines).toHaveLength(120);
        expect(await leftovers(store)).toEqual([]);
      } finally {
        await cleanup(store);
      }
    });
  });
}

const files = ["workspace", "users", "user", "files"];
const chunks = ["workspace", "users", "user", "chunks"];

async function keysOf(store: KeyValueStore, namespace: readonly string[]): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list(namespace, { cursor });
    keys.push(...page.keys);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return keys;
}

/** All keys of the user's files. */
export async function everyKey(store: KeyValueStore): Promise<string[]> {
  return [...(await keysOf(store, files)), ...(await keysOf(store, chunks))];
}

/** Keys of chunks that no manifest mentions. */
export async function leftovers(store: KeyValueStore): Promise<string[]> {
  const values = await store.getMany(files, await keysOf(store, files));
  const manifests = JSON.stringify(values.map((found) => found?.value));
  const ids = (await keysOf(store, chunks)).map((key) => key.split("/")[1] ?? "");
  return ids.filter((id) => !manifests.includes(`"${id}"`));
}
