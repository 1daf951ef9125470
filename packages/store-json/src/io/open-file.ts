import { type BigIntStats, fstatSync, readdirSync, statSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { isMissing } from "./io-error.js";

/*
 * The system has an open file, the directories above it, and a small directory that was just changed, in memory: it answers at
 * once, and asking in another thread would cost many times the answer.
 */

/** Looks at an open file. */
export function statOpen(handle: FileHandle): BigIntStats {
  return fstatSync(handle.fd, { bigint: true });
}

/** Looks at what has the name of an open file by now; undefined when nothing has, or it cannot be told. */
export function statName(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Returns the names in a small directory that was just changed; none when it does not exist. */
export function namesInChanged(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
