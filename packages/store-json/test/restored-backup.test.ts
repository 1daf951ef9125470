import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type AgentStateStore, StateConflictError } from "@holdfast/core";
import { isWhole } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { beforeEach, describe, expect, test } from "vitest";
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

let root: string;
/** Stand for two processes: they share nothing but the files. */
let mine: AgentStateStore;
let theirs: AgentStateStore;

beforeEach(() => {
  root = temporaryRoot();
  mine = openStore();
  theirs = openStore();
});

test("a restored backup that others went past is noticed 30 turns later, also when the files were rewritten since", async () => {
  for (const rotations of [0, 1, 2]) {
    root = temporaryRoot();
    await append(openStore(), ["one"]);
    const backup = temporaryRoot();
    cpSync(root, backup, { recursive: true });
    const lost = await append(openStore(), ["lost"]);
    rmSync(root, { recursive: true });
    cpSync(backup, root, { recursive: true });
    const store = openStore();
    for (let turn = 0; turn < 30; turn++) {
      await append(store, [], {}, { info: { unfinished: true } });
      await append(store, [`turn ${turn}`], {}, { info: { unfinished: false } });
      if (turn % 15 === 10 && turn < rotations * 15) await rotate(store);
    }
    const loaded = await openStore().load(slot, lost);
    expect(loaded, `${rotations} rotations`).toMatchObject({ rolledBack: true });
    const { revision } = await loadSession(store);
    await append(openStore(), ["on"]);
    // What it does go back to is not taken for lost.
    expect(await openStore().load(slot, revision)).not.toHaveProperty("rolledBack");
  }
});

test("a process that knew a save is told that a backup was restored, also after others saved", async () => {
  const backup = join(temporaryRoot(), "session");
  await append(mine, ["one"]);
  cpSync(sessionDirectory(root), backup, { recursive: true });
  const known = await append(mine, ["two"]);
  rmSync(sessionDirectory(root), { recursive: true });
  cpSync(backup, sessionDirectory(root), { recursive: true });
  await append(theirs, ["another two"]);
  await append(theirs, ["three"]);
  const answer = await mine.load(slot, known);
  expect(isWhole(answer) && answer.rolledBack).toBe(true);
  expect(sessionFiles(root)).toHaveLength(1);
});

describe.each([
  ["in place", 0],
  ["in place, and saved to with one byte more", 1],
  ["as a new file", 0],
])("a backup put back %s, whose journal gets the length it had", (how, more) => {
  let known: string;
  let stored: string;

  beforeEach(async () => {
    const journal = join(sessionDirectory(root), "journal.1.jsonl");
    await append(mine, ["one"]);
    const backup = readFileSync(journal);
    known = await append(how === "as a new file" ? theirs : mine, ["two"]);
    await loadSession(mine);
    const { size } = statSync(journal);
    if (how === "as a new file") {
      // With no process that has it open, the system can give its inode again.
      for (const store of [mine, theirs]) await store.close();
      await loadSession(mine);
      rmSync(journal);
    }
    writeFileSync(journal, backup);
    // Longer than a tick of the clock that files get their time from.
    await sleep(20);
    stored = await append(openStore(), [`TWO${"!".repeat(more)}`]);
    expect(statSync(journal).size).toBe(size + more);
  });

  test("is noticed by a process that asks what changed", async () => {
    const answer = await mine.load(slot, known);
    expect(isWhole(answer) && answer).toMatchObject({ revision: stored, rolledBack: true });
  });

  test("is noticed by a process that saves, and the session stays whole", async () => {
    const write = { ...change(null), expected: known };
    await expect(mine.save(slot, write)).rejects.toSatisfy(StateConflictError.is);
    expect((await loadSession(openStore())).revision).toBe(stored);
  });
});

test("a save of a process that knew lost saves is a conflict, and never called damage, when another save is where it read on", async () => {
  const journal = join(sessionDirectory(root), "journal.1.jsonl");
  await append(mine, ["one"]);
  const backup = readFileSync(journal);
  const expected = await append(mine, ["two"]);
  writeFileSync(journal, backup);
  await append(theirs, ["longer than two"]);
  const saving = mine.save(slot, { ...change(null), expected });
  await expect(saving).rejects.toSatisfy(StateConflictError.is);
});

function openStore(): AgentStateStore {
  return new JsonFileAgentStateStore({ root, durability: "os" });
}
