import { parentsOf } from "@holdfast/workspace/filesystem-kit";

/** Changes that turn one set of files into another, to be made in this order. */
export interface FileChanges {
  /** Files whose path becomes a directory, or whose directory becomes a file. */
  readonly removeFirst: readonly string[];
  readonly write: readonly string[];
  /** All other removals; last, so that a crash while a rename is saved leaves the file twice rather than not at all. */
  readonly removeLast: readonly string[];
}

/** Compares two manifests, which map each path to the hash of its content. */
export function fileChanges(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): FileChanges {
  const write = [...after.keys()].filter((path) => after.get(path) !== before.get(path)).sort();
  const gone = [...before.keys()].filter((path) => !after.has(path)).sort();
  const written = new Set(write);
  const directories = new Set(write.flatMap(parentsOf));
  const isInTheWay = (path: string): boolean =>
    directories.has(path) || parentsOf(path).some((parent) => written.has(parent));
  return {
    removeFirst: gone.filter(isInTheWay),
    write,
    removeLast: gone.filter((path) => !isInTheWay(path)),
  };
}
