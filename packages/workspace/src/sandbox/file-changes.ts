import { parentsOf } from "../filesystem/remote/file-key.js";

/** What to do to one set of files so that it becomes another, in this order. */
export interface FileChanges {
  /** Files that stand where a written one needs a directory, or the other way round. */
  readonly makeRoom: readonly string[];
  readonly write: readonly string[];
  /** Last, so that a crash in the middle of keeping a renamed file leaves it twice and not at all. */
  readonly remove: readonly string[];
}

/** The changes from one manifest to another; a manifest says what each path holds. */
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
    makeRoom: gone.filter(isInTheWay),
    write,
    remove: gone.filter((path) => !isInTheWay(path)),
  };
}
