import { type FileHandle, open, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { EventFeed, Slot } from "@holdfast/core";
import { BoundedMap, KeyedQueue } from "@holdfast/core/plugin-kit";
import {
  checkId,
  checkSlot,
  describeSlot,
  ExpirySweep,
  type FeedBatch,
  type FeedLimits,
  type FeedPage,
  feedLimits,
  feedStep,
  pathSegment,
  slotKey,
} from "@holdfast/core/store-kit";
import { Disk, namesIn, removeFile } from "../io/disk.js";
import { IdlePool } from "../io/idle-pool.js";
import { inParallel } from "../io/in-parallel.js";
import { isMissing, unavailable, unknownOutcome } from "../io/io-error.js";
import { writeOpen } from "../io/open-file.js";
import { checkOptions, fileOptionRules } from "../options.js";
import { FeedFile } from "./feed-file.js";

/** Options of a {@link FileEventFeed}. */
export interface FileEventFeedOptions extends FeedLimits {
  /** Directory of all files, on a local file system; created when it is first needed. */
  readonly root: string;
}

/** Feeds whose files a process remembers. */
const FILES_KNOWN = 200;

/** Attempts at a command that another process comes in between of. */
const ATTEMPTS = 20;

/** Nothing that a power loss must not take is kept here. */
const disk = new Disk("os");

/**
 * Keeps the events of calls in files, for readers in every process of the host: a file for each call, with a line for each batch.
 * Readers poll.
 *
 * @example
 * const eventFeed = new FileEventFeed({ root: "./events" });
 */
export class FileEventFeed implements EventFeed {
  readonly contract = 1;
  readonly kind = "json";
  readonly reach = "host";
  readonly #root: string;
  readonly #limits: ReturnType<typeof feedLimits>;
  readonly #files = new BoundedMap<string, FeedFile>({
    maxEntries: FILES_KNOWN,
    leastRecentlyUsed: true,
  });
  /** Open files of calls that run in this process. */
  readonly #writing = new IdlePool<FileHandle>((handle) => handle.close());
  readonly #queue = new KeyedQueue();
  readonly #sweep: ExpirySweep;

  /** @throws ConfigurationError */
  constructor({ root, ...limits }: FileEventFeedOptions) {
    checkOptions("FileEventFeed", { root }, { root: fileOptionRules.root });
    this.#root = root;
    this.#limits = feedLimits(limits, "FileEventFeed");
    this.#sweep = new ExpirySweep(this.#limits.keepMs, () => this.#removeExpired());
  }

  async append(slot: Slot, callId: string, batch: FeedBatch): Promise<number | null> {
    const owner = checkSlot(slot);
    const path = this.#pathOf(owner, checkId(callId, "callId"));
    this.#sweep.start();
    const append = async (): Promise<number | null> => {
      try {
        return await this.#append(path, callId, batch);
      } catch (error) {
        throw unknownOutcome(`append events of ${describeSlot(owner)}`, error);
      }
    };
    return this.#queue.run(path, append);
  }

  async read(slot: Slot, callId: string, after: number): Promise<FeedPage | null> {
    const owner = checkSlot(slot);
    const path = this.#pathOf(owner, checkId(callId, "callId"));
    return reading(owner, () =>
      this.#queue.run(path, () =>
        this.#look(path, async (file, handle) => {
          if (!file.head) return null;
          const { runId, last, ended } = file.head;
          return { batches: await file.page(handle, after), runId, last, ended };
        }),
      ),
    );
  }

  async open(slot: Slot): Promise<readonly string[]> {
    const owner = checkSlot(slot);
    const directory = join(this.#root, slotKey(owner));
    return reading(owner, async () => {
      const paths = (await namesIn(directory)).map((name) => join(directory, name));
      const titles = await inParallel(paths, 16, (path) =>
        this.#queue.run(path, () =>
          this.#look(path, async ({ title, head }) => (head?.ended ? null : (title ?? null))),
        ),
      );
      const open = titles.filter((title) => title !== null).sort((a, b) => a.began - b.began);
      return open.map(({ callId }) => callId);
    });
  }

  async delete(slot: Slot): Promise<void> {
    const owner = checkSlot(slot);
    const remove = () => rm(join(this.#root, slotKey(owner)), { recursive: true, force: true });
    await remove().catch((error: unknown) => {
      throw unknownOutcome(`delete the events of ${describeSlot(owner)}`, error);
    });
  }

  /** Waits for the commands under way. */
  async close(): Promise<void> {
    await this.#sweep.stop();
    await this.#queue.idle();
    await this.#writing.clear();
  }

  async #append(path: string, callId: string, batch: FeedBatch): Promise<number | null> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const handle = this.#writing.take(path) ?? (await openToAppend(path));
      if (handle === null) continue;
      let first: number | null | undefined;
      try {
        first = await this.#appendTo(path, handle, callId, batch);
        if (first !== undefined) return first;
      } finally {
        // The next batch of the call comes soon.
        if (first === undefined || batch.ends) await handle.close();
        else this.#writing.put(path, handle);
      }
    }
    throw new Error("other processes keep changing its file");
  }

  /** @returns undefined when another process came in between */
  async #appendTo(
    path: string,
    handle: FileHandle,
    callId: string,
    batch: FeedBatch,
  ): Promise<number | null | undefined> {
    const file = this.#fileOf(path);
    const { size, mtimeMs, hasName } = await file.refresh(handle);
    if (!hasName) return undefined;
    if (this.#isExpired(file, mtimeMs)) {
      await removeFile(path);
      return undefined;
    }
    const { first, head } = feedStep(file.head, batch);
    if (first === null || !head) return first;
    const title = !file.title && { callId, began: performance.timeOrigin + performance.now() };
    const line = JSON.stringify({ ...title, ...batch });
    // A line that another process did not finish stays one of its own.
    await writeOpen(handle, Buffer.from(`${size > file.size ? "\n" : ""}${line}\n`));
    // Lines that came in between decide: this one counts if it is a repetition now.
    if (!(await file.refresh(handle)).hasName) return undefined;
    const stored = feedStep(file.head, batch);
    await this.#shorten(path, file, handle);
    return stored.head ? undefined : stored.first;
  }

  /** Takes what was dropped out of the file, now and then. */
  async #shorten(path: string, file: FeedFile, handle: FileHandle): Promise<void> {
    if (file.size < 2 * this.#limits.maxChars) return;
    const bytes = await file.shortened(handle);
    if (bytes) await disk.withTemporary(this.#root, bytes, (temporary) => rename(temporary, path));
  }

  /** Runs `look` on a feed as it is now; null when there is none. */
  async #look<T>(
    path: string,
    look: (file: FeedFile, handle: FileHandle) => Promise<T | null>,
  ): Promise<T | null> {
    let handle: FileHandle;
    try {
      handle = await open(path, "r");
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
    try {
      const file = this.#fileOf(path);
      const { mtimeMs } = await file.refresh(handle);
      return this.#isExpired(file, mtimeMs) ? null : await look(file, handle);
    } finally {
      await handle.close();
    }
  }

  /** @returns whether there may be more of them */
  async #removeExpired(): Promise<boolean> {
    for (const slot of await namesIn(this.#root)) {
      const directory = join(this.#root, slot);
      for (const name of slot.startsWith("tmp.") ? [] : await namesIn(directory)) {
        const path = join(directory, name);
        const isLive = async () => (await this.#look(path, async () => true)) === true;
        await this.#queue.run(path, async () => (await isLive()) || removeFile(path));
      }
      // Fails where something is in it.
      await rmdir(directory).catch(() => undefined);
    }
    return false;
  }

  #isExpired({ head }: FeedFile, mtimeMs: number): boolean {
    const { keepMs, openMs } = this.#limits;
    return head !== undefined && mtimeMs + (head.ended ? keepMs : openMs) <= Date.now();
  }

  #fileOf(path: string): FeedFile {
    const known = this.#files.get(path);
    if (known) return known;
    const file = new FeedFile(this.#limits.maxChars);
    this.#files.set(path, file);
    return file;
  }

  #pathOf(slot: Slot, callId: string): string {
    return join(this.#root, slotKey(slot), `${pathSegment(callId)}.jsonl`);
  }
}

/** Opens a file, which is created if there is none; null when its directory was removed at that moment. */
async function openToAppend(path: string): Promise<FileHandle | null> {
  // All but the first batch of a call find the directory.
  const opened = await openIfThere(path);
  if (opened !== null) return opened;
  await disk.makeDirectory(dirname(path), dirname(path));
  return openIfThere(path);
}

/** @returns null when there is no such directory */
function openIfThere(path: string): Promise<FileHandle | null> {
  return disk.openForAppend(path, true).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
}

async function reading<T>(slot: Slot, read: () => Promise<T>): Promise<T> {
  return read().catch((error: unknown) => {
    throw unavailable(`read events of ${describeSlot(slot)}`, error);
  });
}
