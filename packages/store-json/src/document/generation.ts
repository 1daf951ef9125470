import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "../io/io-error.js";

/**
 * A document's directory holds generations: `state.<n>.json`, the snapshot that generation n starts from, and
 * `journal.<n>.jsonl`, the saves since. Generation 1 has no snapshot and starts empty. The highest number is the current one.
 *
 * `swept.<n>.json` is a deleted document's snapshot while its directory is being removed.
 */
export interface Generation {
  readonly number: number;
  readonly snapshot: "state" | "swept" | null;
  readonly journal: boolean;
}

/** Contents of a document's directory. */
export interface DirectoryListing {
  /** Null when no document was ever saved here. */
  readonly current: Generation | null;
  /** Files of earlier generations, in the order in which they may be removed. */
  readonly leftovers: readonly string[];
  /** Everything in the directory. */
  readonly names: readonly string[];
}

const NAME = /^(?:(state|swept)\.([1-9][0-9]{0,14})\.json|journal\.([1-9][0-9]{0,14})\.jsonl)$/;

/** Name of the snapshot that generation `number` starts from. */
export function snapshotName(number: number): string {
  return `state.${number}.json`;
}

/** Name of a deleted document's snapshot while its directory is being removed. */
export function sweptName(number: number): string {
  return `swept.${number}.json`;
}

/** Name of the journal of generation `number`. */
export function journalName(number: number): string {
  return `journal.${number}.jsonl`;
}

/** Lists a document's directory; null when there is none. */
export async function listGenerations(directory: string): Promise<DirectoryListing | null> {
  let names: string[];
  try {
    names = await readdir(directory);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
  const generations = generationsIn(names);
  for (;;) {
    const current = generations.pop();
    if (current === undefined) return { current: null, leftovers: [], names };
    // A writer that found its generation gone leaves an empty journal without a snapshot, which stays empty.
    if (await isStray(directory, current)) continue;
    return { current, leftovers: generations.flatMap(filesOf), names };
  }
}

function generationsIn(names: readonly string[]): Generation[] {
  const generations = new Map<number, Generation>();
  for (const name of names) {
    const [, snapshot, snapshotNumber, journalNumber] = NAME.exec(name) ?? [];
    const number = Number(snapshotNumber ?? journalNumber);
    if (Number.isNaN(number)) continue;
    const known = generations.get(number) ?? { number, snapshot: null, journal: false };
    if (journalNumber !== undefined) generations.set(number, { ...known, journal: true });
    else if (known.snapshot !== "state")
      generations.set(number, { ...known, snapshot: snapshot === "state" ? "state" : "swept" });
  }
  return [...generations.values()].sort((a, b) => a.number - b.number);
}

async function isStray(directory: string, generation: Generation): Promise<boolean> {
  if (generation.snapshot !== null || generation.number === 1) return false;
  try {
    return (await stat(join(directory, journalName(generation.number)))).size === 0;
  } catch (error) {
    if (isMissing(error)) return true;
    throw error;
  }
}

// The snapshot is removed first: a reader that finds it knows that the journal is there too.
function filesOf({ number, snapshot, journal }: Generation): string[] {
  return [
    ...(snapshot === "state" ? [snapshotName(number)] : []),
    ...(snapshot === "swept" ? [sweptName(number)] : []),
    ...(journal ? [journalName(number)] : []),
  ];
}
