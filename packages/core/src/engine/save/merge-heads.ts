import type { JsonObject, JsonValue } from "../../json/json.js";
import { REMEMBERED_CALLS } from "../session/finished-calls.js";

/** Sections that both sides may grow without contradicting each other: lists of entries with a `callId`. */
const growing = new Set(["finishedCalls"]);

/**
 * Three-way merge of state heads, section by section: the side that changed a section wins; when both did,
 * differently, the merge fails.
 *
 * @returns the merged head, or the name of the section both sides changed
 */
export function mergeHeads(
  base: JsonObject,
  mine: JsonObject,
  theirs: JsonObject,
): { readonly head: JsonObject } | { readonly conflict: string } {
  const head: Record<string, JsonValue> = {};
  for (const key of new Set([...Object.keys(theirs), ...Object.keys(mine)])) {
    const [before, here, there] = [base[key], mine[key], theirs[key]];
    let merged: JsonValue | undefined;
    if (same(before, here)) merged = there;
    else if (same(before, there) || same(here, there)) merged = here;
    else if (growing.has(key)) merged = union(here, there);
    else return { conflict: key };
    if (merged !== undefined) head[key] = merged;
  }
  return { head };
}

function same(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function union(mine: JsonValue | undefined, theirs: JsonValue | undefined): JsonValue {
  const entries = new Map<string, JsonValue>();
  for (const list of [theirs, mine])
    if (Array.isArray(list))
      for (const entry of list as readonly JsonObject[])
        entries.set(String(entry["callId"]), entry);
  return [...entries.values()].slice(-REMEMBERED_CALLS);
}
