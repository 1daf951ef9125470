import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { loadWhole } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { expect } from "vitest";
import { type RunOptions, runScript, type ScriptRun } from "./run-script.js";

const script = new URL("./children/saver.mjs", import.meta.url);

/** The session that `children/saver.mjs` saves. */
export const savedSlot = { agentId: "agent", userId: "user", sessionId: "session" };

/** Options of {@link runSaver}. */
export interface SaverOptions extends RunOptions {
  readonly root: string;
  readonly turns: number;
  /** Bytes of padding in each message. */
  readonly bytes: number;
  readonly seed: number;
}

/** Runs the saver until it ends or is killed. */
export function runSaver(options: SaverOptions): Promise<ScriptRun> {
  const { root, turns, bytes, seed, wrapper, onLine } = options;
  return runScript(script, [root, turns, bytes, seed].map(String), { wrapper, onLine });
}

/** The stored session as the saver names states: a hash, or `deleted` where there is none. Fails if a listing disagrees. */
export async function storedHash(root: string): Promise<string> {
  const store = new JsonFileAgentStateStore({ root });
  const loaded = await loadWhole(store, savedSlot);
  const infos = (await store.list()).slots.map(({ info }) => info);
  if (loaded === null) {
    expect(infos).toEqual([]);
    return "deleted";
  }
  const { head, messages, callRecords } = loaded;
  expect(infos).toEqual([{ counts: { turn: head["turn"] } }]);
  const text = JSON.stringify([Object.entries(head).sort(), messages, callRecords]);
  return createHash("sha256").update(text).digest("hex");
}

/**
 * Fails unless the session is what was last acknowledged, or that and the whole save that was under way.
 *
 * @param before - what was stored when the run began
 * @returns what is stored now
 */
export async function expectWholeState(
  root: string,
  lines: readonly string[],
  before: string,
): Promise<string> {
  let acknowledged = before;
  let intended: string | undefined;
  for (const line of lines) {
    const [what, , hash = ""] = line.split(" ");
    if (what === "intent") intended = hash;
    if (what === "ack") {
      acknowledged = intended ?? before;
      intended = undefined;
    }
  }
  const stored = await storedHash(root);
  expect(intended === undefined ? [acknowledged] : [acknowledged, intended]).toContain(stored);
  return stored;
}

/** Fails unless the session can be saved, deleted and begun anew, leaving no file of the past behind. */
export async function expectUsable(root: string): Promise<void> {
  const store = new JsonFileAgentStateStore({ root });
  const loaded = await loadWhole(store, savedSlot);
  const write = { head: {}, replace: [], append: [] };
  const expected = loaded?.revision ?? null;
  await store.save(savedSlot, {
    ...write,
    op: "after",
    expected,
    keep: loaded?.messages.length ?? 0,
  });
  expect(await store.delete(savedSlot)).toBe(true);
  await store.save(savedSlot, { ...write, op: "anew", expected: null, keep: 0 });
  const names = readdirSync(join(root, "agent", "user-user", "session"));
  expect(names.filter((name) => !name.startsWith("tmp."))).toHaveLength(2);
}
