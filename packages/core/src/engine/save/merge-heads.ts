import type { JsonObject, JsonValue } from "../../json/json.js";
import type { RunRecord } from "../../state/sections.js";
import { mergeRecords } from "../session/run-records.js";

/** Sections in which the engine keeps account of runs and ends: the saving run sets its own. */
const aboutRuns = new Set(["unfinishedRun", "resumableRun", "lastEnds"]);

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
    if (aboutRuns.has(key)) merged = there;
    else if (same(before, here)) merged = there;
    else if (same(before, there) || same(here, there)) merged = here;
    else if (key === "finishedCalls")
      merged = mergeRecords(records(before), records(here), records(there));
    else return { conflict: key };
    if (merged !== undefined) head[key] = merged;
  }
  return { head };
}

function same(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function records(section: JsonValue | undefined): readonly RunRecord[] {
  return (section ?? []) as unknown as readonly RunRecord[];
}
