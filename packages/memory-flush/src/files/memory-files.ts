import type { Filesystem, Slot } from "@holdfast/core";
import { type FileInfo, type FileNamespace, KeyedQueue } from "@holdfast/core/plugin-kit";
import { slotKey } from "@holdfast/core/store-kit";
import { plainLine } from "../quote/plain-text.js";

/** Tier 2: consolidated facts. */
export const MEMORY_FILE = "MEMORY.md";
/** Tier 1: one file of notes per day, in UTC. */
export const NOTES_DIRECTORY = "memory";
/** Directory of old notes. */
const ARCHIVE_DIRECTORY = "memory/archive";
/** `MEMORY.md` as it was before the last consolidation. */
export const PREVIOUS_MEMORY_FILE = "memory/archive/MEMORY-previous.md";
/** Most bytes of a day's notes. */
export const MAX_DAY_BYTES = 262_144;

const NOTE_END = /^<!-- flush [0-9a-f-]{36} -->\n?/gm;
const DAY_NAME = /^memory\/\d{4}-\d{2}-\d{2}\.md$/;

/**
 * Reads and writes the files of a user's memory. Notes are only ever appended, which needs no lease; `MEMORY.md` is replaced
 * as a whole, by the holder of the user's lease.
 */
export class MemoryFiles {
  readonly #filesystem: Filesystem;
  /** Runs changes of `MEMORY.md` by this process one after another. */
  readonly #changes = new KeyedQueue();

  constructor(filesystem: Filesystem) {
    this.#filesystem = filesystem;
  }

  /** Returns the text of `MEMORY.md`; empty when there is none. An error is never taken for an empty memory. */
  async readMemory(namespace: FileNamespace): Promise<string> {
    return (await this.read(namespace, MEMORY_FILE)) ?? "";
  }

  async writeMemory(namespace: FileNamespace, text: string): Promise<void> {
    await this.#change(namespace, () => this.#write(namespace, MEMORY_FILE, text));
  }

  /** Adds lines to the end of `MEMORY.md`. */
  async appendMemory(namespace: FileNamespace, lines: string): Promise<void> {
    await this.#change(namespace, () =>
      this.#filesystem.append(namespace, MEMORY_FILE, encode(lines)),
    );
  }

  /**
   * Replaces `base` by `text` and keeps it as {@link PREVIOUS_MEMORY_FILE}. Lines appended meanwhile are kept after the new
   * text.
   *
   * @returns false, with nothing changed, when `MEMORY.md` is no longer `base`, with or without appended lines
   */
  async replaceMemory(namespace: FileNamespace, base: string, text: string): Promise<boolean> {
    return this.#change(namespace, async () => {
      const bytes = (await this.readBytes(namespace, MEMORY_FILE)) ?? new Uint8Array();
      if (!isContinued(base, new TextDecoder().decode(bytes))) return false;
      // As bytes, so that text that is not UTF-8 is kept, too.
      if (base !== "") await this.#filesystem.write(namespace, PREVIOUS_MEMORY_FILE, bytes);
      // Read last, to leave hardly any time for an append that is not seen.
      const current = await this.readMemory(namespace);
      if (!isContinued(base, current)) return false;
      const added = current.slice(base.length).trim();
      const gap = added.startsWith("#") ? "\n\n" : "\n";
      const next = added === "" ? text : `${text.trimEnd()}${gap}${added}\n`;
      await this.#write(namespace, MEMORY_FILE, next);
      return true;
    });
  }

  /** Adds an entry to the notes of a day: a heading, then the text. */
  async appendNotes(
    namespace: FileNamespace,
    at: Date,
    title: string,
    text: string,
  ): Promise<string> {
    const path = dayPath(at);
    const entry = `\n## ${at.toISOString()} ${plainLine(title)}\n\n${text.trimEnd()}\n`;
    await this.#filesystem.append(namespace, path, encode(entry));
    return path;
  }

  /** Returns the text of one of the memory's files; null when it does not exist. */
  async read(namespace: FileNamespace, path: string): Promise<string | null> {
    const bytes = await this.readBytes(namespace, path);
    return bytes === null ? null : new TextDecoder().decode(bytes);
  }

  readBytes(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    return this.#filesystem.read(namespace, path);
  }

  /** Lists the files of notes that are not archived, oldest day first. */
  async days(namespace: FileNamespace): Promise<FileInfo[]> {
    const files = await this.#filesystem.list(namespace, NOTES_DIRECTORY);
    return files.filter(({ path, kind }) => kind === "file" && DAY_NAME.test(path));
  }

  /** Lists all files of tier 1, including the archive. */
  async notes(namespace: FileNamespace): Promise<FileInfo[]> {
    const files = await this.#filesystem.list(namespace, NOTES_DIRECTORY);
    return files.filter(({ path, kind }) => kind === "file" && path.endsWith(".md"));
  }

  /** Moves the notes of a day to the archive, after notes of that day that are there already. */
  async archive(namespace: FileNamespace, path: string): Promise<void> {
    const bytes = await this.readBytes(namespace, path);
    if (bytes === null) return;
    const place = archivePath(path);
    const before = Buffer.from((await this.readBytes(namespace, place)) ?? new Uint8Array());
    // If the process is killed between the two steps, the archive must not get the notes twice.
    if (!before.subarray(Math.max(0, before.length - bytes.length)).equals(bytes))
      await this.#filesystem.write(namespace, place, Buffer.concat([before, bytes]));
    await this.#filesystem.delete(namespace, path);
  }

  /** Deletes the whole memory. */
  async forget(namespace: FileNamespace): Promise<void> {
    for (const { path } of await this.notes(namespace))
      await this.#filesystem.delete(namespace, path);
    await this.#change(namespace, () => this.#filesystem.delete(namespace, MEMORY_FILE));
  }

  #write(namespace: FileNamespace, path: string, text: string): Promise<void> {
    return this.#filesystem.write(namespace, path, encode(text));
  }

  #change<T>(namespace: FileNamespace, change: () => Promise<T>): Promise<T> {
    return this.#changes.run(slotKey(memorySlot(namespace)), change);
  }
}

/** Returns the path of the notes of a day. */
export function dayPath(at: Date): string {
  return `${NOTES_DIRECTORY}/${at.toISOString().slice(0, 10)}.md`;
}

/** Returns the path of the notes of a day in the archive. */
export function archivePath(path: string): string {
  return `${ARCHIVE_DIRECTORY}/${path.slice(NOTES_DIRECTORY.length + 1)}`;
}

/** Tells whether `current` is `base`, or `base` followed by whole lines. */
function isContinued(base: string, current: string): boolean {
  if (!current.startsWith(base)) return false;
  const isWhole = base === "" || base.endsWith("\n") || current.length === base.length;
  return isWhole || current[base.length] === "\n" || current.startsWith("\r\n", base.length);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/**
 * Returns the slot that identifies a memory in leases and watermarks: that of the user, or of the session when there is no
 * user. It is the same for all agents, because they share the files.
 */
export function memorySlot({ userId, sessionId }: FileNamespace): Slot {
  return {
    agentId: "holdfast.memory",
    userId,
    sessionId: userId === null ? sessionId : "memory",
  };
}

/** Returns the last line of a note made by a flush, which proves that it was written in full; Markdown does not show it. */
export function noteEnd(id: string): string {
  return `<!-- flush ${id} -->`;
}

/** Removes the lines that {@link noteEnd} makes. */
export function withoutNoteEnds(text: string): string {
  return text.replace(NOTE_END, "");
}
