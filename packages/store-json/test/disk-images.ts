import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** What makes an image: a call that changed the disk, a sync, or a line the process said. */
export type DiskOp =
  | { readonly kind: "create" | "unlink" | "mkdir" | "rmdir"; readonly path: string }
  | { readonly kind: "link" | "rename"; readonly path: string; readonly to: string }
  | { readonly kind: "write"; readonly path: string; readonly data: string }
  | { readonly kind: "sync"; readonly path: string; readonly covers: number; readonly what: string }
  | { readonly kind: "say"; readonly line: string };

/** Calls of `sync` that a {@link powerLoss} leaves out, by what they are for. */
export type SyncKind = "directory" | "file" | "journal";

interface File {
  readonly chunks: { readonly at: number; readonly bytes: Buffer }[];
  /** Operations before this one are on the device. */
  synced: number;
}
type Directory = Map<string, Node>;
type Node = File | Directory;

/** A change of names that happens as a whole, or not. */
interface NameChange {
  readonly at: number;
  readonly changes: readonly (readonly [directory: Directory, name: string, node: Node | null])[];
}

/**
 * Makes the disk that a power loss behind `ops` leaves: what was synced, and of the rest what chance decides, each change of
 * a name by itself and each file up to any byte, the rest of it missing or zeros.
 *
 * @param root - common directory of all paths in `ops`
 * @param random - numbers from 0 to 1
 */
export function powerLoss(
  ops: readonly DiskOp[],
  {
    root,
    target,
    random,
    without,
  }: {
    readonly root: string;
    readonly target: string;
    readonly random: () => number;
    readonly without?: SyncKind | undefined;
  },
): void {
  const top: Directory = new Map();
  let pending: NameChange[] = [];
  /** Directories as they are on the device. */
  const durable = new Map<Directory, Directory>([[top, new Map()]]);
  const parts = (path: string) => relative(root, path).split(sep);
  const directoryAt = (names: readonly string[]): Directory => {
    let found: Node | undefined = top;
    for (const name of names) found = found instanceof Map ? found.get(name) : undefined;
    if (!(found instanceof Map)) throw new Error(`no directory ${names.join("/")}`);
    return found;
  };
  const placeOf = (path: string): readonly [Directory, string] => {
    const names = parts(path);
    return [directoryAt(names.slice(0, -1)), names.at(-1) ?? ""];
  };
  const change = (at: number, ...changes: (readonly [Directory, string, Node | null])[]): void => {
    for (const [directory, name, node] of changes)
      if (node === null) directory.delete(name);
      else directory.set(name, node);
    pending.push({ at, changes });
  };
  const apply = ({ changes }: NameChange): void => {
    for (const [directory, name, node] of changes) {
      const stored = durable.get(directory);
      if (node === null) stored?.delete(name);
      else stored?.set(name, node);
    }
  };

  for (const [at, op] of ops.entries()) {
    if (op.kind === "say") continue;
    if (op.kind === "mkdir") {
      const names = parts(op.path);
      for (const [index, name] of names.entries()) {
        const parent = directoryAt(names.slice(0, index));
        if (parent.has(name)) continue;
        const made: Directory = new Map();
        durable.set(made, new Map());
        change(at, [parent, name, made]);
      }
      continue;
    }
    if (op.kind === "sync" && relative(root, op.path) === "") {
      if (op.what !== without) settle(top, op.covers);
      continue;
    }
    const [directory, name] = placeOf(op.path);
    const node = directory.get(name);
    if (op.kind === "create") change(at, [directory, name, { chunks: [], synced: 0 }]);
    else if (node === undefined) continue;
    else if (op.kind === "write" && !(node instanceof Map))
      node.chunks.push({ at, bytes: Buffer.from(op.data, "base64") });
    else if (op.kind === "unlink" || op.kind === "rmdir") change(at, [directory, name, null]);
    else if (op.kind === "link") {
      const [into, as] = placeOf(op.to);
      // A name that is taken makes the call fail.
      if (!into.has(as)) change(at, [into, as, node]);
    } else if (op.kind === "rename") change(at, [directory, name, null], [...placeOf(op.to), node]);
    else if (op.kind === "sync" && op.what !== without) {
      if (node instanceof Map) settle(node, op.covers);
      else node.synced = Math.max(node.synced, op.covers);
    }
  }

  /** Puts what is known of a directory's names on the device. */
  function settle(directory: Directory, covers: number): void {
    const isCovered = ({ at, changes }: NameChange): boolean =>
      at < covers && changes.some(([changed]) => changed === directory);
    for (const one of pending.filter(isCovered)) apply(one);
    pending = pending.filter((one) => !isCovered(one));
  }

  const share = random();
  for (const one of pending) if (random() < share) apply(one);
  write(top, target);

  function write(directory: Directory, path: string): void {
    mkdirSync(path, { recursive: true });
    for (const [name, node] of durable.get(directory) ?? [])
      if (node instanceof Map) write(node, join(path, name));
      else writeFileSync(join(path, name), bytesOf(node, random));
  }
}

/** What the device has of a file: all that was synced, and a part of the rest. */
function bytesOf({ chunks, synced }: File, random: () => number): Buffer {
  const safe = Buffer.concat(chunks.filter(({ at }) => at < synced).map(({ bytes }) => bytes));
  const rest = Buffer.concat(chunks.filter(({ at }) => at >= synced).map(({ bytes }) => bytes));
  const kept = random() < 0.3 ? (random() < 0.5 ? 0 : rest.length) : random() * rest.length;
  const zeros = random() < 0.3 ? rest.length - Math.floor(kept) : 0;
  return Buffer.concat([safe, rest.subarray(0, Math.floor(kept)), Buffer.alloc(zeros)]);
}
