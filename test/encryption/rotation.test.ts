import {
  type AgentStateStore,
  InMemoryAgentStateStore,
  StateConflictError,
  textOf,
  userMessage,
} from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { type EncryptionKey, withEncryption } from "@holdfast/encryption";
import { expect, test } from "vitest";
import { freshKey } from "./keys.js";
import { corruption, loadState, said, saveTexts, slotOf, writeOn } from "./stored.js";
import { fileSubject, removeFiles } from "./subjects.js";

const [old, fresh] = [freshKey("old"), freshKey("new")];
const slot = slotOf();
const rounds = process.env["HOLDFAST_LONG"] === "1" ? 25 : 2;

/** Appends a message as a careful writer does. */
async function say(store: AgentStateStore, text: string): Promise<void> {
  for (;;) {
    const loaded = await loadWhole(store, slot);
    try {
      await store.save(slot, writeOn(loaded, [userMessage(text)]));
      return;
    } catch (error) {
      if (!StateConflictError.is(error)) throw error;
    }
  }
}

function keyIdOf(value: unknown): string | undefined {
  return /^1\.([^.]+)\./.exec(String((value as { sealed?: unknown })?.sealed))?.[1];
}

test("nodes that change their keys one after another, under load, read each other all the time", async () => {
  const inner = new InMemoryAgentStateStore();
  const steps: (readonly EncryptionKey[])[] = [[old], [old, fresh], [fresh, old]];
  const said: string[] = [];
  // Node a is always one step ahead of node b or equal to it.
  for (const [a, b] of [
    [0, 0],
    [1, 0],
    [1, 1],
    [2, 1],
    [2, 2],
  ] as const) {
    const nodes = [a, b].map((step) => withEncryption(inner, { keys: steps[step] ?? [] }));
    const write = async (node: AgentStateStore, name: string): Promise<void> => {
      for (let index = 0; index < rounds; index++) {
        const text = `${a}${b} ${name} ${index}`;
        await say(node, text);
        said.push(text);
      }
    };
    const writers = nodes.flatMap((node, at) => [write(node, `${at} x`), write(node, `${at} y`)]);
    await Promise.all(writers);
    for (const node of nodes)
      expect((await loadState(node, slot)).messages.map(textOf).sort()).toEqual([...said].sort());
  }
  const stored = await loadState(inner, slot);
  expect(keyIdOf(stored.head)).toBe("new");
  expect(keyIdOf(stored.messages.at(-1)?.metadata)).toBe("new");
  expect(keyIdOf(stored.messages[0]?.metadata)).toBe("old");
});

test("a session saved whole needs the old key no longer; its log does", async () => {
  const inner = new InMemoryAgentStateStore();
  const before = withEncryption(inner, { keys: [old] });
  await saveTexts(before, slot, ["a", "b"]);
  await before.companions?.().log.append(slot, [said("a")]);
  await before.companions?.().keyValue.put(["n"], "k", "v");

  const both = withEncryption(inner, { keys: [fresh, old] });
  const loaded = await loadState(both, slot);
  await both.save(slot, writeOn(loaded, loaded.messages, { keep: 0 }));
  const value = await both.companions?.().keyValue.get(["n"], "k");
  await both.companions?.().keyValue.put(["n"], "k", "v", { expected: value?.version });

  const after = withEncryption(inner, { keys: [fresh] });
  expect((await loadState(after, slot)).messages.map(textOf)).toEqual(["a", "b"]);
  expect(await after.companions?.().keyValue.get(["n"], "k")).toMatchObject({ value: "v" });
  const { message } = await corruption(async () => after.companions?.().log.read(slot));
  expect(message).toContain('key "old"');
});

test("a node that got the new key first in a rotation is not understood by one without it", async () => {
  const inner = new InMemoryAgentStateStore();
  await saveTexts(withEncryption(inner, { keys: [fresh, old] }), slot, ["a"]);
  const behind = withEncryption(inner, { keys: [old] });
  expect((await corruption(() => behind.load(slot))).message).toContain('key "new"');
  // And it does not take what it cannot read for nothing.
  await expect(saveTexts(behind, slot, ["b"])).rejects.toSatisfy(StateConflictError.is);
});

test("rotation works on files, where the head is kept field by field", async () => {
  const { root, inner } = fileSubject({ keys: [old] });
  try {
    await say(withEncryption(inner, { keys: [old] }), "a");
    await say(withEncryption(inner, { keys: [fresh, old] }), "b");
    const again = fileSubject({ keys: [old, fresh] }, root).store;
    expect((await loadState(again, slot)).messages.map(textOf)).toEqual(["a", "b"]);
  } finally {
    removeFiles(root);
  }
});
