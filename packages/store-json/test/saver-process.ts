import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { expect } from "vitest";

const script = fileURLToPath(new URL("./children/saver.mjs", import.meta.url));

/** The session that `children/saver.mjs` saves. */
export const savedSlot = { agentId: "agent", userId: "user", sessionId: "session" };

/** What a run of the saver said, and how it ended. */
export interface SaverRun {
  readonly lines: readonly string[];
  readonly exitCode: number | null;
}

/** How to run the saver. */
export interface SaverOptions {
  readonly root: string;
  readonly turns: number;
  /** Bytes of padding in each message. */
  readonly bytes: number;
  readonly seed: number;
  /** Runs before node, for example strace and its options. */
  readonly wrapper?: readonly string[];
  /** Called with every line; may kill the process. */
  readonly onLine?: (line: string, kill: () => void) => void;
}

/** Runs the saver until it ends or is killed. */
export async function runSaver(options: SaverOptions): Promise<SaverRun> {
  const { root, turns, bytes, seed, wrapper = [], onLine } = options;
  const [command = "", ...args] = [
    ...wrapper,
    process.execPath,
    script,
    ...[root, turns, bytes, seed].map(String),
  ];
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "inherit"],
    // One thread for all file operations, so that "the 5th write" is the same one in every run.
    env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    onLine?.(line, () => child.kill("SIGKILL"));
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { lines, exitCode };
}

/** The stored session as the saver names states: a hash, or `deleted` where there is none. */
export async function storedHash(root: string): Promise<string> {
  const loaded = await new JsonFileAgentStateStore({ root }).load(savedSlot);
  if (loaded === null || loaded === "unchanged") return "deleted";
  const text = JSON.stringify([Object.entries(loaded.head).sort(), loaded.messages]);
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
  const loaded = await store.load(savedSlot);
  if (loaded === "unchanged") throw new Error("no revision was given");
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
