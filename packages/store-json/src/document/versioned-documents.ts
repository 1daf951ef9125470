import {
  type Revision,
  type SessionInfo,
  StateCorruptError,
  StoreUnavailableError,
} from "@holdfast/core";
import { BoundedMap, KeyedQueue } from "@holdfast/core/plugin-kit";
import type { LoadedState } from "@holdfast/core/store-kit";
import type { Disk } from "../io/disk.js";
import { unavailable } from "../io/io-error.js";
import type { ReportSink } from "../report.js";
import { type Change, prepareChange, type SizeLimits } from "./change.js";
import { headObject } from "./contents.js";
import { type Attempt, DocumentWriter } from "./document-writer.js";
import { discardDamaged } from "./finish-generation.js";
import { type OpenDocument, openDocument } from "./open-document.js";
import type { Place } from "./place.js";
import { isCurrent, type Position } from "./position.js";
import { readDocument } from "./read-document.js";

/** Dependencies and limits of {@link VersionedDocuments}. */
export interface DocumentsOptions {
  readonly disk: Disk;
  readonly limits: SizeLimits;
  readonly report: ReportSink;
}

/** Documents whose position is cached: a kilobyte or two each. */
const POSITIONS_KEPT = 1_000;
/** Tries before giving up on a document that other processes keep changing under a command. */
const ATTEMPTS = 100;

/**
 * Documents, each a head and messages, in a directory of its own: saved as deltas, compare-and-set between processes,
 * whole after any crash.
 */
export class VersionedDocuments {
  readonly #options: DocumentsOptions;
  readonly #writer: DocumentWriter;
  readonly #queue = new KeyedQueue();
  readonly #positions = new BoundedMap<string, Position>({
    maxEntries: POSITIONS_KEPT,
    leastRecentlyUsed: true,
  });

  constructor(options: DocumentsOptions) {
    this.#options = options;
    this.#writer = new DocumentWriter(options.disk, options.report);
  }

  /**
   * Returns the document, `"unchanged"` when `known` is its revision, null when there is none.
   *
   * @throws StateCorruptError | StoreUnavailableError
   */
  read(place: Place, known?: Revision): Promise<LoadedState | "unchanged" | null> {
    return this.#exclusively(place, `load ${place.label}`, async () => {
      const position = this.#positions.get(place.directory);
      if (position !== undefined && position.chain.revision === known)
        if (await isCurrent(place, position)) return "unchanged";
      const read = await readDocument(place, this.#options.report, position);
      if (read === null) return null;
      if (position !== undefined && isSameFile(position, read.position))
        read.position.namesSynced = position.namesSynced;
      this.#remember(place, read.position);
      const { revision, info } = read.position.chain;
      if (revision === null) return null;
      if (revision === known) return "unchanged";
      const { messages, calls: callRecords } = read.contents;
      const loaded = { revision, head: headObject(read.contents), messages, callRecords };
      return info === undefined ? loaded : { ...loaded, info: JSON.parse(info) as SessionInfo };
    });
  }

  /**
   * Saves a change; resolves to the new revision once it is durable.
   *
   * @param before - done before the first write, once the change was copied; an error of it is passed on
   * @throws StateConflictError | StateTooLargeError | StateCorruptError | StoreUnavailableError | UnknownOutcomeError
   */
  async write(place: Place, change: Change, before?: () => Promise<void>): Promise<Revision> {
    const prepared = prepareChange(place, change, this.#options.limits);
    await before?.();
    return this.#attempt(place, "save", (document) => this.#writer.save(place, document, prepared));
  }

  /**
   * Deletes a document, if it has the revision `expected`; resolves to whether there was one. A damaged document is
   * deleted too, unless a revision is expected. Throws as {@link write}.
   */
  async remove(place: Place, expected?: Revision | null): Promise<boolean> {
    try {
      return await this.#attempt(place, "delete", (document) =>
        this.#writer.remove(place, document, expected),
      );
    } catch (error) {
      if (expected !== undefined || !StateCorruptError.is(error)) throw error;
      return await this.#exclusively(place, `delete ${place.label}`, () =>
        discardDamaged(this.#options.disk, place),
      );
    }
  }

  /** Resolves when every command given so far has ended. */
  async idle(): Promise<void> {
    await this.#queue.idle();
    this.#positions.clear();
  }

  #attempt<T>(
    place: Place,
    verb: string,
    work: (document: OpenDocument) => Promise<Attempt<T>>,
  ): Promise<T> {
    const { disk, report } = this.#options;
    return this.#exclusively(place, `${verb} ${place.label}`, async () => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const known = this.#positions.get(place.directory);
        this.#positions.delete(place.directory);
        const document = await openDocument(disk, place, known, report);
        if (document === null) continue;
        try {
          const outcome = await work(document);
          if (outcome === "again") continue;
          if (outcome.position !== null) this.#remember(place, outcome.position);
          return outcome.done;
        } finally {
          // Everything that must be durable is synced: closing cannot lose anything.
          await document.journal?.handle.close().catch(() => undefined);
        }
      }
      throw new StoreUnavailableError(
        `cannot ${verb} ${place.label}: other processes keep changing it; nothing was changed: try again`,
      );
    });
  }

  #remember(place: Place, position: Position): void {
    if (!position.outdated) this.#positions.set(place.directory, position);
  }

  #exclusively<T>(place: Place, attempt: string, work: () => Promise<T>): Promise<T> {
    return this.#queue.run(place.directory, async () => {
      try {
        return await work();
      } catch (error) {
        this.#positions.delete(place.directory);
        throw unavailable(attempt, error);
      }
    });
  }
}

function isSameFile(a: Position, b: Position): boolean {
  return a.generation === b.generation && a.inode === b.inode;
}
