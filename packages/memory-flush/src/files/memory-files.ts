import type { Filesystem, Slot } from "@holdfast/core";
import { type FileInfo, type FileNamespace, KeyedQueue } from "@holdfast/core/plugin-kit";
import { slotKey } from "@holdfast/core/store-kit";
import { plainLine } from "../quote/plain-text.js";

/** Tier 2: what is known, put in order. */
export const MEMORY_FILE = "MEMORY.md";
/** Tier 1: a file of notes for every day, in UTC. */
export const NOTES_DIRECTORY = "memory";
/** Where notes of long ago are kept. */
export const ARCHIVE_DIRECTORY = "memory/archive";
/** `MEMORY.md` as it was before it was last put in order. */
export const PREVIOUS_MEMORY_FILE = "memory/archive/MEMORY-previous.md";
/** Most bytes of a day's notes. */
export const MAX_DAY_BYTES = 262_144;

const NOTE_END = /^<!-- flush [0-9a-f-]{36} -->\n?/gm;
const DAY_NAME = /^memory\/\d{4}-\d{2}-\d{2}\.md$/;

/**
 * The memory of a user as files. Notes are only ever appended, so that whoever writes them needs no turn; `MEMORY.md` is
 * replaced as a whole by whoever holds the user's lease.
 */
export class MemoryFiles {
  readonly #filesystem: Filesystem;
  /** Changes of `MEMORY.md` by this process wait for each other. */
  readonly #changes = new KeyedQueue();

  constructor(filesystem: Filesystem) {
    this.#filesystem = filesystem;
  }

  /** The text of `MEMORY.md`; empty when there is none. An error is an error, never an empty memory. */
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
   * Puts `text` in the place of `base`, which is kept as {@link PREVIOUS_MEMORY_FILE}. What was appended meanwhile stays,
   * behind the new text.
   *
   * @returns false, with nothing changed, when `MEMORY.md` is not `base` any more, with or without something behind
   */
  async replaceMemory(namespace: FileNamespace, base: string, text: string): Promise<boolean> {
    return this.#change(namespace, async () => {
      const bytes = (await this.readBytes(namespace, MEMORY_FILE)) ?? new Uint8Array();
      if (!isContinued(base, new TextDecoder().decode(bytes))) return false;
      // As bytes: what is not UTF-8 is kept, too.
      if (base !== "") await this.#filesystem.write(namespace, PREVIOUS_MEMORY_FILE, bytes);
      // Read last, so that next to nothing can be appended unseen.
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

  /** The text of one of the memory's files; null when it is not there. */
  async read(namespace: FileNamespace, path: string): Promise<string | null> {
    const bytes = await this.readBytes(namespace, path);
    return bytes === null ? null : new TextDecoder().decode(bytes);
  }

  readBytes(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    return this.#filesystem.read(namespace, path);
  }

  /** The files of notes that are not archived, oldest day first. */
  async days(namespace: FileNamespace): Promise<FileInfo[]> {
    const files = await this.#filesystem.list(namespace, NOTES_DIRECTORY);
    return files.filter(({ path, kind }) => kind === "file" && DAY_NAME.test(path));
  }

  /** Everything in tier 1, the archive included. */
  async notes(namespace: FileNamespace): Promise<FileInfo[]> {
    const files = await this.#filesystem.list(namespace, NOTES_DIRECTORY);
    return files.filter(({ path, kind }) => kind === "file" && path.endsWith(".md"));
  }

  /** Moves the notes of a day to the archive; what is there of that day already stays in front. */
  async archive(namespace: FileNamespace, path: string): Promise<void> {
    const bytes = await this.readBytes(namespace, path);
    if (bytes === null) return;
    const place = archivePath(path);
    const before = Buffer.from((await this.readBytes(namespace, place)) ?? new Uint8Array());
    // Killed between the two steps, an archive that has the notes already must not get them twice.
    if (!before.subarray(Math.max(0, before.length - bytes.length)).equals(bytes))
      await this.#filesystem.write(namespace, place, Buffer.concat([before, bytes]));
    await this.#filesystem.delete(namespace, path);
  }

  /** Removes all memory. */
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

/** The file of notes that a moment belongs to. */
export function dayPath(at: Date): string {
  return `${NOTES_DIRECTORY}/${at.toISOString().slice(0, 10)}.md`;
}

/** Where the notes of a day go when they are archived. */
export function archivePath(path: string): string {
  return `${ARCHIVE_DIRECTORY}/${path.slice(NOTES_DIRECTORY.length + 1)}`;
}

/** Whether a text is another one with whole lines behind, or nothing. */
function isContinued(base: string, current: string): boolean {
  if (!current.startsWith(base)) return false;
  const isWhole = base === "" || base.endsWith("\n") || current.length === base.length;
  return isWhole || current[base.length] === "\n" || current.startsWith("\r\n", base.length);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/**
 * What a memory goes by in leases and watermarks: the user, or the session where there is none, whichever agent is at work,
 * because that is whose files they are.
 */
export function memorySlot({ userId, sessionId }: FileNamespace): Slot {
  return {
    agentId: "holdfast.memory",
    userId,
    sessionId: userId === null ? sessionId : "memory",
  };
}

/** The last line of a note made by a flush: with it there, the note was written whole. Not seen where Markdown is shown. */
export function noteEnd(id: string): string {
  return `<!-- flush ${id} -->`;
}

/** Notes without the ends that {@link noteEnd} makes. */
export function withoutNoteEnds(text: string): string {
  return text.replace(NOTE_END, "");
}
