import {
  type Revision,
  type SessionInfo,
  StateCorruptError,
  StoreUnavailableError,
} from "@holdfast/core";
import { KeyedQueue } from "@holdfast/core/plugin-kit";
import type { CallRecord, LoadAnswer, LoadedState, StateChange } from "@holdfast/core/store-kit";
import type { Disk } from "../io/disk.js";
import { unavailable } from "../io/io-error.js";
import type { ReportSink } from "../report.js";
import { type Chain, keptHead } from "./chain.js";
import { type Change, prepareChange, type SizeLimits } from "./change.js";
import { headObject, isForked } from "./contents.js";
import { type Attempt, DocumentWriter } from "./document-writer.js";
import { discardDamaged } from "./finish-generation.js";
import { JournalHandles } from "./journal-handles.js";
import { type OpenDocument, openDocument } from "./open-document.js";
import type { Place } from "./place.js";
import type { Position } from "./position.js";
import { PositionCache } from "./position-cache.js";
import { readChange } from "./read-change.js";
import { readDocument } from "./read-document.js";

/** Dependencies and limits of {@link VersionedDocuments}. */
export interface DocumentsOptions {
  readonly disk: Disk;
  readonly limits: SizeLimits;
  readonly report: ReportSink;
}

/** Tries before giving up on a document that other processes keep changing under a command. */
const ATTEMPTS = 100;

/**
 * Documents, each a head and messages, in a directory of its own: saved as deltas, compare-and-set between processes,
 * whole after any crash.
 */
export class VersionedDocuments {
  readonly #options: DocumentsOptions;
  readonly #handles: JournalHandles;
  readonly #writer: DocumentWriter;
  readonly #queue = new KeyedQueue();
  readonly #positions = new PositionCache();

  constructor(options: DocumentsOptions) {
    this.#options = options;
    this.#handles = new JournalHandles(options.disk);
    this.#writer = new DocumentWriter(options.disk, this.#handles, options.report);
  }

  /**
   * Returns the document; `"unchanged"` when `known` is its revision, what changed since where the journal tells, null when
   * there is none.
   *
   * @throws StateCorruptError | StoreUnavailableError
   */
  read(place: Place, known?: Revision): Promise<LoadAnswer> {
    return this.#exclusively(place, `load ${place.label}`, async () => {
      const position = this.#positions.take(place.directory);
      const change = position && known && (await this.#readOn(place, position, known));
      return change || this.#readWhole(place, position, known);
    });
  }

  /** Returns the facts for listings as of a revision, `"unsure"` when only reading the document tells. */
  infoAt(place: Place, revision: Revision): SessionInfo | undefined | "unsure" {
    const chain = this.#positions.peek(place.directory)?.chain;
    if (chain?.revision !== revision) return "unsure";
    return chain.info === undefined ? undefined : (JSON.parse(chain.info) as SessionInfo);
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

  /** Resolves when every command given so far has ended and nothing is open. */
  async idle(): Promise<void> {
    await this.#queue.idle();
    this.#positions.clear();
    await this.#handles.clear();
  }

  #attempt<T>(
    place: Place,
    verb: string,
    work: (document: OpenDocument) => Promise<Attempt<T>>,
  ): Promise<T> {
    const { report } = this.#options;
    return this.#exclusively(place, `${verb} ${place.label}`, async () => {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const known = this.#positions.take(place.directory);
        const document = await openDocument(this.#handles, place, known, report);
        if (document === null) continue;
        let isKept = false;
        try {
          const outcome = await work(document);
          if (outcome === "again") continue;
          const { position, done } = outcome;
          if (position !== null) this.#positions.put(place.directory, position);
          const { journal } = document;
          if (journal !== null && position === journal.position) {
            this.#handles.keep(place, position, journal.handle);
            isKept = true;
          }
          return done;
        } finally {
          // Everything that must be durable is synced: closing cannot lose anything.
          if (!isKept) await document.journal?.handle.close().catch(() => undefined);
        }
      }
      throw new StoreUnavailableError(
        `cannot ${verb} ${place.label}: other processes keep changing it; nothing was changed: try again`,
      );
    });
  }

  /** Reads on from a position; null when that does not lead to an answer. */
  async #readOn(
    place: Place,
    position: Position,
    known: Revision,
  ): Promise<StateChange | "unchanged" | null> {
    const { chain } = position;
    const isKnown = chain.revision === known;
    if (!isKnown || !(await this.#handles.isCurrent(place, position))) {
      const change = await readChange(this.#handles, place, position, known, this.#options.report);
      const beside = change && besideMessages(chain);
      if (!change || !beside) return null;
      this.#positions.put(place.directory, position);
      const { revision, keep, replace, append } = change;
      return revision === known
        ? "unchanged"
        : { from: known, revision, ...beside, keep, replace, append };
    }
    this.#positions.put(place.directory, position);
    return "unchanged";
  }

  async #readWhole(
    place: Place,
    position: Position | undefined,
    known: Revision | undefined,
  ): Promise<LoadedState | "unchanged" | null> {
    // That the generation of the position has ended may be known by now.
    const hint = position?.chain.state === "open" ? position : undefined;
    const read = await readDocument(place, this.#options.report, hint);
    if (read === null) return null;
    if (position !== undefined && isSameFile(position, read.position))
      read.position.namesSynced = position.namesSynced;
    this.#positions.put(place.directory, read.position);
    const { chain } = read.position;
    const { revision, info } = chain;
    if (revision === null) return null;
    if (revision === known) return "unchanged";
    const { messages, calls: callRecords } = read.contents;
    return {
      ...{ revision, head: headObject(read.contents), messages, callRecords },
      ...(info !== undefined && { info: JSON.parse(info) as SessionInfo }),
      ...(known !== undefined && isForked(read.contents, known) && { rolledBack: true }),
    };
  }

  #exclusively<T>(place: Place, attempt: string, work: () => Promise<T>): Promise<T> {
    return this.#queue.run(place.directory, async () => {
      try {
        return await work();
      } catch (error) {
        this.#positions.take(place.directory);
        throw unavailable(attempt, error);
      }
    });
  }
}

/** Returns what an answer holds beside the messages; undefined when the chain keeps it not. */
function besideMessages(
  chain: Chain,
): Pick<StateChange, "head" | "callRecords" | "info"> | undefined {
  const kept = keptHead(chain);
  if (kept === undefined) return undefined;
  const head = Object.fromEntries(kept.head.map(([key, json]) => [key, JSON.parse(json)]));
  const callRecords = kept.calls.map(({ json }) => JSON.parse(json) as CallRecord);
  if (chain.info === undefined) return { head, callRecords };
  return { head, callRecords, info: JSON.parse(chain.info) as SessionInfo };
}

function isSameFile(a: Position, b: Position): boolean {
  return a.generation === b.generation && a.inode === b.inode;
}
