import { utimesSync } from "node:fs";
import { join } from "node:path";
import { textOf } from "@holdfast/core";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { beforeAll, expect, test } from "vitest";
import { heldUp } from "./held-up.js";
import { append, loadSession, rotate, sessionDirectory, sessionFiles, slot } from "./session.js";
import { needStrace } from "./strace.js";
import { temporaryRoot } from "./temporary-root.js";

beforeAll(needStrace, 300_000);

// Each test holds one process up in the middle of a step, by a tracer, while this process goes past it.
const step = new URL("./children/step.mjs", import.meta.url);

test.concurrent("of two saves that follow the same revision the first in the file counts, and the other is told", async () => {
  const root = temporaryRoot();
  const store = new JsonFileAgentStateStore({ root });
  await append(store, ["one"]);
  const slow = await heldUp("write", journalOf(root, 1), step, [root, "append", "slow"]);
  await append(store, ["fast"]);
  expect(await slow.next()).toBe("conflict");
  expect(await texts(store)).toEqual(["one", "fast"]);
  expect(await texts(new JsonFileAgentStateStore({ root }))).toEqual(["one", "fast"]);
});

test.concurrent("two first saves of a session: one of them counts, the other is told", async () => {
  const root = temporaryRoot();
  const slow = await heldUp("write", journalOf(root, 1), step, [root, "append", "slow"]);
  const store = new JsonFileAgentStateStore({ root });
  await append(store, ["fast"]);
  expect(await slow.next()).toBe("conflict");
  expect(await texts(store)).toEqual(["fast"]);
});

test.concurrent("a save into a generation that ended meanwhile is made in the next one, or told; never lost", async () => {
  const root = temporaryRoot();
  const store = new JsonFileAgentStateStore({ root });
  await append(store, ["one"]);
  const slow = await heldUp("write", journalOf(root, 1), step, [root, "append", "slow"]);
  await rotate(store);
  expect(await slow.next()).toBe("conflict");
  expect(await texts(new JsonFileAgentStateStore({ root }))).toEqual(["one"]);
});

test.concurrent("a journal begun for a generation that is past by then is not written to", async () => {
  const root = temporaryRoot();
  const store = new JsonFileAgentStateStore({ root });
  await append(store, ["one"]);
  await rotate(store);
  expect(sessionFiles(root)).toEqual(["state.2.json"]);
  const slow = await heldUp("openat", journalOf(root, 2), step, [root, "append", "slow"]);
  await append(store, ["fast"]);
  await rotate(store);
  expect(sessionFiles(root)).toEqual(["state.3.json"]);
  expect(await slow.next()).toBe("conflict");
  expect(await texts(new JsonFileAgentStateStore({ root }))).toEqual(["one", "fast"]);
});

test.concurrent("a process that is late with starting a generation, which is past by then, harms nobody and notices", async () => {
  const root = temporaryRoot();
  const store = new JsonFileAgentStateStore({ root });
  await append(store, ["one"]);
  const start = join(sessionDirectory(root), "state.2.json");
  const slow = await heldUp("link", start, step, [root, "rotate"]);
  await append(store, ["two"]);
  expect(sessionFiles(root).filter((name) => !name.startsWith("tmp."))).toEqual([
    "journal.2.jsonl",
    "state.2.json",
  ]);
  await rotate(store);
  await append(store, ["three"]);
  expect(await slow.next()).toBe("3");
  expect(await texts(store)).toEqual(["one", "two", "three"]);
  expect(sessionFiles(root)).toEqual(["journal.3.jsonl", "state.3.json"]);
});

test.concurrent("a session saved anew while its old directory is being swept keeps that save", async () => {
  const root = temporaryRoot();
  const store = new JsonFileAgentStateStore({ root });
  await append(store, ["old"]);
  await store.delete(slot);
  const longAgo = Date.now() / 1_000 - 200_000;
  for (const name of sessionFiles(root))
    utimesSync(join(sessionDirectory(root), name), longAgo, longAgo);
  const sweeper = await heldUp("rename", join(sessionDirectory(root), "state.2.json"), step, [
    root,
    "list",
  ]);
  await append(store, ["anew"]);
  expect(await sweeper.next()).toBe("listed");
  expect(await texts(new JsonFileAgentStateStore({ root }))).toEqual(["anew"]);
  await append(store, ["again"]);
  expect(await texts(store)).toEqual(["anew", "again"]);
});

async function texts(store: JsonFileAgentStateStore): Promise<string[]> {
  return (await loadSession(store)).messages.map(textOf);
}

function journalOf(root: string, generation: number): string {
  return join(sessionDirectory(root), `journal.${generation}.jsonl`);
}
