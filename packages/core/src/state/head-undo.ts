import { isRecord, type JsonObject } from "../json/json.js";
import { UNDO_SCHEMA_VERSION } from "./migrate-document.js";
import type { Undo, UnfinishedRun } from "./sections.js";

/** Levels that are compared entry by entry: the sections, and what is in them, such as the states of plugins. */
const LEVELS = 2;

/**
 * Returns a head as it is to be stored: its run says of the head before it only what differs, so that a save costs what
 * changed. A release that expects the whole head before it may not read that.
 */
export function withUndo(head: JsonObject): JsonObject {
  const run = head["unfinishedRun"] as (JsonObject & { readonly before?: JsonObject }) | null;
  if (run === null) return head;
  const stored = { ...head, minReader: UNDO_SCHEMA_VERSION };
  const { before, ...rest } = run;
  // Of another run, which a merge leaves as it is.
  if (before === undefined) return stored;
  const undo = undoOf(withoutRun(before), withoutRun(stored));
  return { ...stored, unfinishedRun: { ...rest, undo } };
}

/** Returns the head before a run. @param head - the one that the run is in */
export function headBefore(head: JsonObject, { before, undo = [] }: UnfinishedRun): JsonObject {
  return before ?? undone(withoutRun(head), undo);
}

/** Returns what makes `present` what it was earlier. */
export function undoOf(earlier: JsonObject, present: JsonObject, levels: number = LEVELS): Undo {
  const then = new Map(Object.entries(earlier));
  const now = new Map(Object.entries(present));
  return [...new Set([...now.keys(), ...then.keys()])].flatMap((key): Undo => {
    const [was, is] = [then.get(key), now.get(key)];
    if (JSON.stringify(was) === JSON.stringify(is)) return [];
    if (was === undefined) return [[key]];
    return levels > 1 && isRecord(was) && isRecord(is)
      ? [[key, undoOf(was as JsonObject, is as JsonObject, levels - 1), "inside"]]
      : [[key, was]];
  });
}

/** Returns what `present` was earlier: the inverse of {@link undoOf}. */
export function undone(present: JsonObject, undo: Undo): JsonObject {
  const entries = new Map(Object.entries(present));
  for (const [key, was, inside] of undo)
    if (was === undefined) entries.delete(key);
    else entries.set(key, inside ? undone(entries.get(key) as JsonObject, was as Undo) : was);
  return Object.fromEntries(entries);
}

function withoutRun({ unfinishedRun: _, ...head }: JsonObject): JsonObject {
  return head;
}
