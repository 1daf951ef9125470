import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StateCorruptError, StateTooNewError, textOf } from "@holdfast/core";
import { type LoadedState, loadWhole } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { checksum, encodeLine } from "../src/document/record-line.js";
import {
  append,
  change,
  loadSession,
  rotate,
  sessionDirectory,
  sessionFiles,
  slot,
} from "./session.js";
import { temporaryRoot } from "./temporary-root.js";

describe.each(["journal only", "snapshot and journal"])("files of a session, %s", (kind) => {
  const root = temporaryRoot();
  let saved: LoadedState;
  let files: { name: string; bytes: Buffer }[];

  beforeAll(async () => {
    const store = new JsonFileAgentStateStore({ root, durability: "os" });
    await append(store, ['J*J J@ {"bytes":12,', "two"], { kind: "a", crc: ',"crc":"00000000"}' });
    if (kind !== "journal only") await rotate(store);
    for (const text of ["three", "four", "five"]) {
      const callRecord = { record: { callId: text, text }, keep: 2 };
      await append(store, [text], { note: text }, { callRecord, info: { title: text } });
    }
    saved = await loadSession(store);
    files = sessionFiles(root).map((name) => ({
      name,
      bytes: readFileSync(join(sessionDirectory(root), name)),
    }));
    expect(files).toHaveLength(kind === "journal only" ? 1 : 2);
  });

  test("any one flipped bit is noticed: the load fails as corrupt, or the state is what it was", async () => {
    const target = temporaryRoot();
    cpSync(root, target, { recursive: true });
    const bits = files.flatMap(({ bytes }, file) =>
      Array.from({ length: bytes.length * 8 }, (_, bit) => ({ file, bit })),
    );
    const some = scaled(1, 0) === 1 ? fc.sample(fc.constantFrom(...bits), 150) : bits;
    for (const { file, bit } of some) {
      const { name, bytes } = files[file] ?? { name: "", bytes: Buffer.alloc(0) };
      const path = join(sessionDirectory(target), name);
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      writeFileSync(path, changed);
      const loaded = await outcomeOf(target);
      if (loaded !== "corrupt") expect(loaded, `bit ${bit} of ${name}`).toEqual(saved);
      writeFileSync(path, bytes);
    }
  });

  test("what is damaged can be deleted, stays deleted, and can be saved anew", async () => {
    const target = temporaryRoot();
    cpSync(root, target, { recursive: true });
    for (const { name, bytes } of files) {
      const middle = bytes.length >> 1;
      const changed = Buffer.from(bytes).fill("x", middle, middle + 4);
      writeFileSync(join(sessionDirectory(target), name), changed);
    }
    expect(await outcomeOf(target)).toBe("corrupt");
    const store = new JsonFileAgentStateStore({ root: target, durability: "os" });
    const other = new JsonFileAgentStateStore({ root: target, durability: "os" });
    expect(await store.delete(slot)).toBe(true);
    for (const one of [store, other]) expect(await one.load(slot)).toBeNull();
    expect(await other.delete(slot)).toBe(false);
    expect((await store.list()).slots).toEqual([]);
    for (const { name } of files) expect(sessionFiles(target)).not.toContain(name);
    await append(other, ["anew"], {});
    expect((await loadSession(store)).messages).toHaveLength(1);
  });

  test("a journal cut off at any byte loads as an earlier save, whole, and can be saved again", async () => {
    const target = temporaryRoot();
    cpSync(root, target, { recursive: true });
    const journal = files.find(({ name }) => name.startsWith("journal"));
    if (journal === undefined) throw new Error("no journal");
    const seen = new Set<number | null>();
    for (let length = journal.bytes.length; length >= 0; length -= scaled(23, 1)) {
      writeFileSync(
        join(sessionDirectory(target), journal.name),
        journal.bytes.subarray(0, length),
      );
      const store = new JsonFileAgentStateStore({ root: target, durability: "os" });
      const loaded = await loadWhole(store, slot);
      seen.add(loaded?.messages.length ?? null);
      if (loaded !== null)
        expect(loaded.messages).toEqual(saved.messages.slice(0, loaded.messages.length));
      // The records came with the third message and those after it.
      const texts = (loaded?.messages ?? []).slice(2).map(textOf);
      expect((loaded?.callRecords ?? []).map(({ callId }) => callId)).toEqual(
        texts.toReversed().slice(0, 2),
      );
      const revision = await store.save(slot, change(loaded, { after: length }));
      const again = await loadSession(new JsonFileAgentStateStore({ root: target }));
      expect(again).toEqual({
        revision,
        head: { after: length },
        messages: loaded?.messages ?? [],
        callRecords: loaded?.callRecords ?? [],
        ...(loaded?.info && { info: loaded.info }),
      });
    }
    expect(seen.size).toBeGreaterThanOrEqual(4);
  });

  test("a journal with a record missing, moved or taken from elsewhere is corrupt", async () => {
    const target = temporaryRoot();
    cpSync(root, target, { recursive: true });
    const journal = files.find(({ name }) => name.startsWith("journal"));
    if (journal === undefined) throw new Error("no journal");
    const path = join(sessionDirectory(target), journal.name);
    const lines = journal.bytes
      .toString()
      .split("\n")
      .filter((line) => line !== "");
    for (const index of lines.keys()) {
      const without = lines.toSpliced(index, 1);
      writeFileSync(path, `\n${without.join("\n\n")}\n`);
      const loaded = await outcomeOf(target);
      // Only the newest record can go without a trace: nothing names it.
      expect(loaded === "corrupt").toBe(index !== lines.length - 1);
    }
    writeFileSync(path, `\n${lines.toReversed().join("\n\n")}\n`);
    expect(await outcomeOf(target)).toBe("corrupt");
    writeFileSync(path, `\n${lines.join("\n\n")}\n\n${lines.join("\n\n")}\n`);
    expect(await outcomeOf(target)).toEqual(saved);
  });

  test("the files of one session under another's name are corrupt, not its state", async () => {
    const target = temporaryRoot();
    cpSync(root, target, { recursive: true });
    cpSync(sessionDirectory(target), join(target, "agent", "user-user", "other"), {
      recursive: true,
    });
    const store = new JsonFileAgentStateStore({ root: target });
    const other = { ...slot, sessionId: "other" };
    await expect(store.load(other)).rejects.toSatisfy(StateCorruptError.is);
    await expect(store.save(other, change(null))).rejects.toSatisfy(StateCorruptError.is);
    expect(await store.load(slot)).toEqual(saved);
  });
});

test("a journal whose snapshot is gone is corrupt, not an empty session", async () => {
  const root = temporaryRoot();
  const store = new JsonFileAgentStateStore({ root });
  await append(store, ["one"]);
  await rotate(store);
  await append(store, ["two"]);
  const snapshot = sessionFiles(root).find((name) => name.startsWith("state."));
  rmSync(join(sessionDirectory(root), snapshot ?? ""));
  await expect(new JsonFileAgentStateStore({ root }).load(slot)).rejects.toSatisfy(
    StateCorruptError.is,
  );
});

async function outcomeOf(root: string): Promise<LoadedState | "corrupt" | null> {
  try {
    return await loadWhole(new JsonFileAgentStateStore({ root, durability: "os" }), slot);
  } catch (error) {
    if (StateCorruptError.is(error)) return "corrupt";
    throw error;
  }
}

test("files of a newer release are refused as such, and not touched", async () => {
  const root = temporaryRoot();
  const store = new JsonFileAgentStateStore({ root });
  await append(store, ["one"]);
  const journal = join(sessionDirectory(root), "journal.1.jsonl");
  const before = readFileSync(journal);
  const newer = encodeLine('"kind":"merge","prev":null,"op":"1","at":"then"');
  writeFileSync(journal, Buffer.concat([before, newer]));
  const reader = new JsonFileAgentStateStore({ root });
  await expect(reader.load(slot)).rejects.toSatisfy(StateTooNewError.is);
  await expect(reader.save(slot, change(null))).rejects.toSatisfy(StateTooNewError.is);
  expect(readFileSync(journal)).toEqual(Buffer.concat([before, newer]));
  writeFileSync(journal, before);
  await rotate(reader);
  const snapshot = join(sessionDirectory(root), "state.2.json");
  const text = readFileSync(snapshot, "utf8").replace('"v":1', '"v":2');
  const body = text.slice(0, text.lastIndexOf("\n", text.length - 2));
  writeFileSync(snapshot, `${body}\n"crc":"${checksum(Buffer.from(body))}"}\n`);
  await expect(new JsonFileAgentStateStore({ root }).load(slot)).rejects.toSatisfy(
    StateTooNewError.is,
  );
});
