import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  ConfigurationError,
  InMemoryKeyValueStore,
  InvalidInputError,
  type JsonValue,
  type KeyValueStore,
  StateCorruptError,
  StateTooLargeError,
} from "@holdfast/core";
import { tempDirectory } from "@holdfast/testing";
import { afterEach, expect, test, vi } from "vitest";
import { RemoteFilesystem, RemoteFilesystemSpec } from "../../src/filesystem/index.js";
import { CrashingKeyValueStore } from "./crashing-key-value-store.js";
import { describeRemoteFilesystem, everyKey, leftovers } from "./remote-cases.js";
import { bytesOf, listed, mine, readText, textOf } from "./sample-files.js";

describeRemoteFilesystem("InMemoryKeyValueStore", { create: () => new InMemoryKeyValueStore() });

afterEach(() => {
  vi.useRealTimers();
});

const manifests = ["workspace", "users", "user", "files"];
const chunks = ["workspace", "users", "user", "chunks"];

/** A store that knows how many bytes were put and how many commands were sent. */
class MeteredKeyValueStore extends InMemoryKeyValueStore {
  bytes = 0;
  commands = 0;

  override async get(...args: Parameters<KeyValueStore["get"]>) {
    this.commands++;
    return super.get(...args);
  }

  override async getMany(...args: Parameters<KeyValueStore["getMany"]>) {
    this.commands++;
    return super.getMany(...args);
  }

  override async put(...args: Parameters<KeyValueStore["put"]>) {
    this.commands++;
    this.bytes += JSON.stringify(args[2]).length;
    return super.put(...args);
  }
}

test("a small file is one value, and replacing it takes two commands", async () => {
  const store = new MeteredKeyValueStore();
  const files = new RemoteFilesystem({ keyValue: store });
  await files.write(mine, "a.txt", bytesOf("small"));
  expect(await everyKey(store)).toEqual(["a.txt"]);
  store.commands = 0;
  await files.write(mine, "a.txt", bytesOf("other"));
  expect(store.commands).toBe(2);
  expect(await readText(files, "a.txt")).toBe("other");
  expect(store.commands).toBe(3);
});

test("an append costs the same however large the file is", async () => {
  const store = new MeteredKeyValueStore();
  const files = new RemoteFilesystem({ keyValue: store });
  const line = bytesOf(`${"x".repeat(199)}\n`);
  const costs: number[] = [];
  for (const megabytes of [1, 16]) {
    await files.write(mine, "log", new Uint8Array(megabytes * 1_048_576).fill(120));
    store.bytes = 0;
    for (let at = 0; at < 1_000; at++) await files.append(mine, "log", line);
    costs.push(store.bytes / 1_000);
  }
  const [little = 0, much = 0] = costs;
  // A manifest names its chunks: forty bytes for each quarter of a megabyte.
  expect(much).toBeLessThan(little + 15 * 4 * 60);
  // Bytes are stored a few times over, not as often as there are appends.
  expect(little).toBeLessThan(12_000);
  const read = await files.read(mine, "log");
  expect(read?.length).toBe(16 * 1_048_576 + 200_000);
  expect(await leftovers(store)).toEqual([]);
});

test("many small appends make few chunks", async () => {
  const store = new InMemoryKeyValueStore();
  const files = new RemoteFilesystem({ keyValue: store });
  const line = bytesOf(`${"y".repeat(999)}\n`);
  for (let at = 0; at < 1_500; at++) await files.append(mine, "log", line);
  const keys = (await store.list(chunks, { limit: 1_000 })).keys;
  expect(keys.length).toBeLessThan(20);
  expect((await files.read(mine, "log"))?.length).toBe(1_500_000);
});

test("text is kept as text, and neither text nor bytes grow by more than a third", async () => {
  const kinds = {
    text: bytesOf("漢字 with words and \n lines. ".repeat(60_000)),
    controls: new Uint8Array(700_000).fill(1),
    bytes: Uint8Array.from({ length: 700_000 }, (_, at) => (at * 7919) % 256),
  };
  for (const [name, bytes] of Object.entries(kinds)) {
    const store = new MeteredKeyValueStore();
    const files = new RemoteFilesystem({ keyValue: store });
    await files.write(mine, "a", bytes);
    expect(store.bytes, name).toBeLessThan(bytes.length * 1.34 + 2_000);
    expect(Buffer.compare((await files.read(mine, "a")) ?? new Uint8Array(), bytes)).toBe(0);
    if (name !== "text") continue;
    const keys = (await store.list(chunks)).keys;
    const values = await store.getMany(chunks, keys);
    expect(values.every((found) => JSON.stringify(found?.value).includes("漢字"))).toBe(true);
  }
});

test("paths longer than a key are files like any other", async () => {
  const store = new InMemoryKeyValueStore();
  const files = new RemoteFilesystem({ keyValue: store });
  const deep = "🌤".repeat(20);
  const directory = Array(40).fill(deep).join("/");
  const paths = [
    `${directory}/a`,
    `${directory}/b`,
    `${directory}a`,
    directory.slice(0, 1_022),
    "x".repeat(1_024),
    "x".repeat(1_025),
    `${"x".repeat(1_025)}y`,
  ];
  for (const path of paths) await files.write(mine, path, bytesOf(path));
  for (const path of paths) expect(await readText(files, path)).toBe(path);
  const infos = (await files.list(mine)).filter(({ kind }) => kind === "file");
  expect(infos.map(({ path }) => path)).toEqual([...paths].sort());
  expect(await listed(files, directory)).toEqual([`${directory}/a`, `${directory}/b`]);
  expect(await files.delete(mine, `${directory}/a`)).toBe(true);
  expect(await listed(files, directory)).toEqual([`${directory}/b`]);
});

test("a file where a directory is needed, and a directory where a file is, are refused", async () => {
  const files = new RemoteFilesystem({ keyValue: new InMemoryKeyValueStore() });
  await files.write(mine, "d/a", bytesOf("a file"));
  for (const change of ["write", "append"] as const) {
    await expect(files[change](mine, "d/a/b/c", bytesOf("x"))).rejects.toThrow(
      '"d/a" is a file, not a directory',
    );
    await expect(files[change](mine, "d", bytesOf("x"))).rejects.toThrow(
      '"d" is a directory, not a file',
    );
  }
  await files.delete(mine, "d/a");
  await files.write(mine, "d", bytesOf("now a file"));
  expect(await listed(files)).toEqual(["d"]);
});

test("a file and a directory of one name, made by two nodes at once, can both be read and deleted", async () => {
  const store = new InMemoryKeyValueStore();
  const [one, two] = [1, 2].map(() => new RemoteFilesystem({ keyValue: store })) as [
    RemoteFilesystem,
    RemoteFilesystem,
  ];
  // Both have seen that nothing is there before either writes.
  await Promise.all([
    one.write(mine, "d", bytesOf("file")),
    two.write(mine, "d/a", bytesOf("below")),
  ]);
  expect(await readText(one, "d")).toBe("file");
  expect(await readText(one, "d/a")).toBe("below");
  expect(await listed(one)).toEqual(["d", "d/a"]);
  await one.append(mine, "d", bytesOf("!"));
  expect(await one.delete(mine, "d")).toBe(true);
  expect(await listed(one)).toEqual(["d/", "d/a"]);
});

test("a file over maxFileBytes is refused before anything is read or written", async () => {
  const store = new InMemoryKeyValueStore();
  const files = new RemoteFilesystem({ keyValue: store, maxFileBytes: 10 });
  await files.write(mine, "a", bytesOf("0123456789"));
  const refused = { name: "StateTooLargeError", message: expect.stringContaining("maxFileBytes") };
  await expect(files.write(mine, "b", bytesOf("0123456789a"))).rejects.toMatchObject(refused);
  await expect(files.append(mine, "a", bytesOf("a"))).rejects.toMatchObject(refused);
  await new RemoteFilesystem({ keyValue: store }).write(mine, "c", bytesOf("0123456789a"));
  await expect(files.read(mine, "c")).rejects.toSatisfy(StateTooLargeError.is);
  expect(await listed(files)).toEqual(["a", "c"]);
});

test("a lost chunk is an error, not a shorter file; the file can be written and deleted all the same", async () => {
  const store = new InMemoryKeyValueStore();
  const files = new RemoteFilesystem({ keyValue: store });
  const large = new Uint8Array(1_000_000).fill(7);
  await files.write(mine, "a", large);
  const [first = ""] = (await store.list(chunks)).keys;
  await store.delete(chunks, first);
  await expect(files.read(mine, "a")).rejects.toSatisfy(StateCorruptError.is);
  await files.write(mine, "a", large);
  expect((await files.read(mine, "a"))?.length).toBe(1_000_000);
  const [second = ""] = (await store.list(chunks)).keys;
  await store.put(chunks, second, { base64: "AAAA" });
  await expect(files.read(mine, "a")).rejects.toSatisfy(StateCorruptError.is);
  expect(await files.delete(mine, "a")).toBe(true);
  expect(await everyKey(store)).toEqual([]);
});

test("a manifest that is none is an error that names the file", async () => {
  const store = new InMemoryKeyValueStore();
  const files = new RemoteFilesystem({ keyValue: store });
  for (const value of [null, {}, { v: 2 }, "text"] as JsonValue[]) {
    await store.put(manifests, "a", value);
    await expect(files.read(mine, "a")).rejects.toThrow('the file "a"');
    await expect(files.read(mine, "a")).rejects.toSatisfy(StateCorruptError.is);
  }
});

test("what a crash left of a file that nobody writes again is cleared by a later listing", async () => {
  const store = new InMemoryKeyValueStore();
  const files = new RemoteFilesystem({ keyValue: store });
  const large = new Uint8Array(600_000).fill(7);
  for (let command = 1; command < 14; command++) {
    const dying = new RemoteFilesystem({
      keyValue: new CrashingKeyValueStore(store, { command, when: "after" }),
    });
    await dying.write(mine, `first-${command}`, large).catch(() => undefined);
    await files.write(mine, `second-${command}`, large);
    const deleting = new CrashingKeyValueStore(store, { command, when: "before" });
    await new RemoteFilesystem({ keyValue: deleting })
      .delete(mine, `second-${command}`)
      .catch(() => undefined);
  }
  const paths = await listed(files);
  expect(await leftovers(store)).not.toEqual([]);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * 3_600_000 });
  expect(await listed(files)).toEqual(paths);
  // Files that are there keep what they may have left behind until they are written or deleted.
  for (const path of paths) await files.delete(mine, path);
  expect(await everyKey(store)).toEqual([]);
});

test("a put whose answer was lost is recognised: an append is not made twice", async () => {
  const store = new InMemoryKeyValueStore();
  const files = new RemoteFilesystem({ keyValue: store });
  await files.write(mine, "a", bytesOf("one"));
  const lossy = new InMemoryKeyValueStore();
  lossy.get = store.get.bind(store);
  lossy.put = async (...args) => {
    await new CrashingKeyValueStore(store, { command: 1, when: "after" }).put(...args);
    return "";
  };
  await new RemoteFilesystem({ keyValue: lossy }).append(mine, "a", bytesOf(" two"));
  expect(await readText(files, "a")).toBe("one two");
});

test("two names are two workspaces; agents with one name share a user's files", async () => {
  const keyValue = new InMemoryKeyValueStore();
  const files = new RemoteFilesystem({ keyValue });
  await files.write(mine, "a", bytesOf("x"));
  expect(await new RemoteFilesystem({ keyValue, name: "other" }).read(mine, "a")).toBeNull();
  expect(textOf(await files.read({ ...mine, agentId: "another" }, "a"))).toBe("x");
  expect(files.reach).toBe("process");
});

test("the spec keeps files in the key-value store and reads the shared ones from the directory", async () => {
  await using directory = await tempDirectory();
  await mkdir(join(directory.path, "users/user"), { recursive: true });
  await writeFile(join(directory.path, "AGENTS.md"), "for all");
  await writeFile(join(directory.path, "users/user/a"), "not shared");
  const keyValue = new InMemoryKeyValueStore();
  const spec = new RemoteFilesystemSpec({ name: "w" });
  expect({ kind: spec.kind, needs: spec.needs }).toEqual({ kind: "remote", needs: "distributed" });
  const files = spec.create({ workspace: directory.path, keyValue, stateStore: {} as never });
  await files.write(mine, "b", bytesOf("x"));
  expect((await keyValue.list(["w", "users", "user", "files"])).keys).toEqual(["b"]);
  expect(textOf((await files.shared?.read("AGENTS.md")) ?? null)).toBe("for all");
  expect((await files.shared?.list())?.map(({ path }) => path)).toEqual(["AGENTS.md"]);
  expect(await listed(files)).toEqual(["b"]);
  expect(files.run).toBeUndefined();
});

test("wrong options and wrong bytes are named", async () => {
  const keyValue = new InMemoryKeyValueStore();
  for (const options of [
    {},
    { keyValue: {} },
    { keyValue, name: "" },
    { keyValue, maxFileBytes: 1.5 },
  ])
    expect(() => new RemoteFilesystem(options as never)).toThrow(ConfigurationError);
  expect(() => new RemoteFilesystemSpec({ name: 1 } as never)).toThrow(ConfigurationError);
  const files = new RemoteFilesystem({ keyValue });
  await expect(files.write(mine, "a", "text" as never)).rejects.toSatisfy(InvalidInputError.is);
});
