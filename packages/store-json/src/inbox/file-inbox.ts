import { readFile, rename, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { Slot } from "@holdfast/core";
import { KeyedQueue } from "@holdfast/core/plugin-kit";
import {
  checkInboxUse,
  checkSlot,
  describeSlot,
  type Inbox,
  type InboxEntry,
} from "@holdfast/core/store-kit";
import { toJson } from "../document/change.js";
import { type Place, tooNew } from "../document/place.js";
import { type Disk, namesIn, removeFile } from "../io/disk.js";
import { inParallel } from "../io/in-parallel.js";
import { isMissing, unavailable, unknownOutcome } from "../io/io-error.js";
import { namesInChanged } from "../io/open-file.js";
import { bySlot, slotPlace } from "../layout.js";
import type { ReportSink } from "../report.js";
import {
  damagedName,
  decodeEntry,
  type EntryFile,
  encodeEntry,
  entryFiles,
  entryHash,
  entryName,
  inboxNames,
} from "./entry-file.js";

/** Files read in parallel. */
const PARALLEL = 16;
/** Attempts at putting an entry into a directory that other processes keep removing as empty. */
const ATTEMPTS = 20;

/** Expiry of the sessions whose inboxes these are. */
export interface InboxLife {
  /** Removes a session that has expired, before an entry is put. */
  begin(slot: Slot): Promise<void>;
  isExpired(slot: Slot): Promise<boolean>;
}

/** An entry about to be put: taken from the caller's values before anything is awaited. */
interface NewEntry {
  readonly file: Omit<EntryFile, "name" | "order">;
  readonly contents: Buffer;
}

/**
 * Keeps inbox entries as files beside the state of their session, one each.
 *
 * An entry is put under a number higher than all that are there. Entries that two processes put at the same time may get the
 * same number, and may then pass the bounds of an inbox by one.
 */
export class FileInbox implements Inbox {
  readonly #root: string;
  readonly #placeOf: (slot: Slot) => Place;
  readonly #disk: Disk;
  readonly #report: ReportSink;
  readonly #life: InboxLife;
  readonly #queue = new KeyedQueue();

  constructor(root: string, disk: Disk, report: ReportSink, life: InboxLife) {
    this.#root = root;
    this.#placeOf = bySlot((slot) => ({
      ...slotPlace(root, slot),
      label: `the inbox of ${describeSlot(slot)}`,
    }));
    this.#disk = disk;
    this.#report = report;
    this.#life = life;
  }

  async put(slot: Slot, entry: InboxEntry): Promise<void> {
    const owner = checkSlot(slot);
    const place = this.#placeOf(owner);
    const json = toJson(place, entry);
    const bytes = Buffer.byteLength(json, "utf8");
    const added: NewEntry = {
      file: { kind: entry.kind, bytes, hash: entryHash(entry.id) },
      contents: encodeEntry(place.ids, json),
    };
    await this.#life.begin(owner);
    return this.#exclusively(place, "put an entry into", async () => {
      await this.#makeDurable(place, await this.#add(owner, place, added));
    });
  }

  async read(slot: Slot): Promise<readonly InboxEntry[]> {
    const owner = checkSlot(slot);
    const place = this.#placeOf(owner);
    if (await this.#life.isExpired(owner)) return [];
    try {
      const files = withoutRepeats(entryFiles(namesInChanged(place.directory)));
      if (files.length === 0) return [];
      const entries = await inParallel(files, PARALLEL, (file) => this.#entryIn(place, file));
      return entries.filter((entry) => entry !== null);
    } catch (error) {
      throw unavailable(`read ${place.label}`, error);
    }
  }

  async remove(slot: Slot, ids: readonly string[]): Promise<void> {
    const hashes = new Set(ids.map(entryHash));
    await this.#removeFiles(this.#placeOf(checkSlot(slot)), (names) =>
      entryFiles(names)
        .filter(({ hash }) => hashes.has(hash))
        .map(({ name }) => name),
    );
  }

  /** Removes every entry of a slot. */
  async empty(slot: Slot): Promise<void> {
    await this.#removeFiles(this.#placeOf(checkSlot(slot)), inboxNames);
  }

  /** Resolves when every command given so far has ended. */
  async idle(): Promise<void> {
    await this.#queue.idle();
  }

  /** Returns the name of the file written; null when the entry was there before. */
  async #add(slot: Slot, place: Place, { file, contents }: NewEntry): Promise<string | null> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#disk.makeDirectory(place.directory, this.#root);
        const files = withoutRepeats(entryFiles(await namesIn(place.directory)));
        if (files.some(({ hash }) => hash === file.hash)) return null;
        const bytes = files.reduce((sum, each) => sum + each.bytes, file.bytes);
        checkInboxUse(slot, { entries: files.length + 1, bytes });
        const name = entryName({ ...file, order: (files.at(-1)?.order ?? 0) + 1 });
        return (await this.#disk.publish(place.directory, name, contents)) ? name : null;
      } catch (error) {
        if (!isMissing(error) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** Also where the entry was there before: the process that wrote it may have died before it was durable. */
  async #makeDurable(place: Place, written: string | null): Promise<void> {
    try {
      await this.#disk.syncDirectories(place.directory, ...place.parents);
    } catch (error) {
      // A repeated put must write it again: the system may take for synced what it failed to write.
      if (written !== null) await removeFile(join(place.directory, written)).catch(() => undefined);
      throw unknownOutcome(`putting an entry into ${place.label}`, error);
    }
  }

  async #entryIn(place: Place, { name }: EntryFile): Promise<InboxEntry | null> {
    const path = join(place.directory, name);
    let bytes: Buffer;
    try {
      bytes = await readFile(path);
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
    const entry = decodeEntry(place.ids, bytes);
    if (entry === "too_new") throw tooNew(place);
    if (entry !== null) return entry;
    // Kept for a person to look at, under a name that stands for no entry.
    await rename(path, join(place.directory, damagedName(name))).catch(() => undefined);
    this.#report({
      kind: "entry_skipped",
      message: `${place.label}: skipped an entry that is not what was written and set it aside as ${damagedName(name)}`,
    });
    return null;
  }

  #removeFiles(place: Place, choose: (names: readonly string[]) => string[]): Promise<void> {
    return this.#exclusively(place, "remove entries from", async () => {
      const names = namesInChanged(place.directory);
      const chosen = choose(names);
      if (chosen.length === 0) return;
      for (const name of chosen) await removeFile(join(place.directory, name));
      try {
        await this.#disk.syncDirectories(place.directory);
      } catch (error) {
        if (!isMissing(error)) throw unknownOutcome(`removing entries from ${place.label}`, error);
      }
      // A session that has no state leaves no directory behind. One that is saved at this moment makes it again.
      if (chosen.length === names.length) await rmdir(place.directory).catch(() => undefined);
    });
  }

  #exclusively<T>(place: Place, attempt: string, work: () => Promise<T>): Promise<T> {
    return this.#queue.run(place.directory, async () => {
      try {
        return await work();
      } catch (error) {
        throw unavailable(`${attempt} ${place.label}`, error);
      }
    });
  }
}

/** Two processes that put the same entry at once, between others, leave it twice: the first counts. */
function withoutRepeats(files: readonly EntryFile[]): EntryFile[] {
  const seen = new Set<string>();
  return files.filter(({ hash }) => !seen.has(hash) && seen.add(hash));
}
