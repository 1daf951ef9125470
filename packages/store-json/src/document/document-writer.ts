import { type Revision, StateConflictError } from "@holdfast/core";
import { BoundedMap } from "@holdfast/core/plugin-kit";
import { nextRevision, uuidv7 } from "@holdfast/core/store-kit";
import type { Disk } from "../io/disk.js";
import { ioReason, unavailable, unknownOutcome } from "../io/io-error.js";
import type { ReportSink } from "../report.js";
import { appendRecord } from "./append-record.js";
import { changeHead, liveBytes, revisionOf } from "./chain.js";
import { checkFit, headChanges, type PreparedChange } from "./change.js";
import { finishGeneration, removePast, tryRemovePast } from "./finish-generation.js";
import type { JournalHandles } from "./journal-handles.js";
import { type OpenDocument, startDocument } from "./open-document.js";
import type { OpenJournal } from "./open-journal.js";
import type { Place } from "./place.js";
import type { Position } from "./position.js";
import { type EndRecord, encodeEnd, encodeSave } from "./record.js";

/** A generation ends when its files hold more than twice the document, and this much more. */
const ROTATION_SLACK = 65_536;

/** Evicting one costs a few needless syncs. */
const DURABLE_PARENTS_KEPT = 10_000;

/** Outcome of an attempt: done, or to be repeated on a document opened again. */
export type Attempt<T> = { readonly done: T; readonly position: Position | null } | "again";

/** Writes to open documents. */
export class DocumentWriter {
  readonly #disk: Disk;
  readonly #handles: JournalHandles;
  readonly #report: ReportSink;
  /** Generations whose journal could not be synced: data in the system's cache may never reach the disk. */
  readonly #suspects = new Map<string, number>();

  /** Documents whose directory this process made durable, or found so. */
  readonly #durableParents = new BoundedMap<string, true>({
    maxEntries: DURABLE_PARENTS_KEPT,
    leastRecentlyUsed: true,
  });

  constructor(disk: Disk, handles: JournalHandles, report: ReportSink) {
    this.#disk = disk;
    this.#handles = handles;
    this.#report = report;
  }

  /**
   * Makes one attempt at a save.
   *
   * @throws StateConflictError | StateCorruptError | StoreUnavailableError | UnknownOutcomeError
   */
  async save(
    place: Place,
    document: OpenDocument,
    change: PreparedChange,
  ): Promise<Attempt<Revision>> {
    const { position, journal } = document;
    const { chain } = position;
    const earlier = revisionOf(chain, change.op);
    if (this.#isSuspect(place, position) && journal !== null)
      return this.#rewriteSuspect(place, journal, earlier !== undefined);
    if (earlier !== undefined) {
      // The process that wrote it may have died before it was durable.
      await this.#makeDurable(place, position, journal);
      return { done: earlier, position };
    }
    if (chain.state !== "open") return this.#startNextGeneration(place);
    if (change.expected !== undefined && change.expected !== chain.revision)
      throw conflict(place, chain.revision);
    checkFit(place, change, chain.count);
    if (journal !== null) return this.#append(place, journal, change);
    // Another process may have saved between reading and opening: check again before writing a record that cannot count.
    return (await this.#start(place, document)) ? this.save(place, document, change) : "again";
  }

  /** Makes one attempt at a delete; `done` tells whether there was a document. Throws as {@link save}. */
  async remove(
    place: Place,
    document: OpenDocument,
    expected: Revision | null | undefined,
  ): Promise<Attempt<boolean>> {
    const { position, journal } = document;
    const { chain } = position;
    if (chain.state === "deleted" || (chain.revision === null && position.hasLeftovers)) {
      // A delete whose process died, or whose disk was full, before the contents were removed.
      await this.#erase(place);
      return { done: true, position: null };
    }
    if (chain.state === "sealed") return this.#startNextGeneration(place);
    if (expected !== undefined && expected !== chain.revision)
      throw conflict(place, chain.revision);
    if (chain.revision === null) return { done: false, position };
    if (journal === null)
      return (await this.#start(place, document))
        ? this.remove(place, document, expected)
        : "again";
    if (!(await this.#end(place, journal, "delete"))) return "again";
    await this.#makeDurable(place, position, journal);
    await this.#erase(place);
    return { done: true, position: null };
  }

  async #append(
    place: Place,
    journal: OpenJournal,
    change: PreparedChange,
  ): Promise<Attempt<Revision>> {
    const { position } = journal;
    const { chain } = position;
    const { set, unset } = headChanges(change, chain);
    const { op, keep, messageBytes, replace, append, call, info = chain.info } = change;
    const prev = chain.revision;
    const rev = change.revision ?? nextRevision(chain.newest);
    const ids = prev === null ? place.ids : undefined;
    const record = { prev, rev, op, at: new Date().toISOString(), messageBytes, keep, unset };
    const texts = { set, replace, append, call, info };
    const line = encodeSave({ ...record, ids }, texts, journal.size);
    const addition = {
      line,
      step: { ...record, kind: "save", append, call, info } as const,
      applyHead: () => changeHead(chain, { unset, set, call }),
    };
    const verdict = await appendRecord(place, journal, addition, this.#report);
    // A lost record may have lost against an earlier attempt at the very same save.
    const done = verdict === "accepted" ? rev : revisionOf(chain, op);
    if (done !== undefined) {
      await this.#makeDurable(place, position, journal);
      return { done, position: await this.#cleanUp(place, journal) };
    }
    if (chain.state !== "open" || change.expected === undefined) return "again";
    throw conflict(place, chain.revision);
  }

  #start(place: Place, document: OpenDocument): Promise<boolean> {
    return startDocument(this.#disk, this.#handles, place, document, this.#report);
  }

  async #makeDurable(place: Place, position: Position, journal: OpenJournal | null): Promise<void> {
    try {
      if (journal !== null) await this.#disk.syncData(journal.handle);
      // A first generation may be in a directory that was swept and made again since.
      if (!position.namesSynced && position.generation === 1)
        this.#durableParents.delete(place.directory);
      if (!position.namesSynced) await this.#disk.syncDirectories(place.directory);
      position.namesSynced = true;
      if (this.#durableParents.get(place.directory)) return;
      await this.#disk.syncDirectories(...place.parents);
      this.#durableParents.set(place.directory, true);
    } catch (error) {
      this.#suspects.set(place.directory, position.generation);
      throw unknownOutcome(`saving ${place.label}`, error);
    }
  }

  /**
   * Removes files of past generations, and starts a new one when most of this one is out of date. The save is durable by
   * now, so a failure is only reported.
   */
  async #cleanUp(place: Place, journal: OpenJournal): Promise<Position | null> {
    const { position } = journal;
    if (position.hasLeftovers) {
      await tryRemovePast(this.#disk, place, this.#report);
      position.hasLeftovers = false;
    }
    const bytes = position.snapshotBytes + position.offset;
    if (bytes <= 2 * liveBytes(position.chain) + ROTATION_SLACK) return position;
    try {
      if (!(await this.#end(place, journal, "seal"))) return position;
      return await finishGeneration(this.#disk, place, this.#report);
    } catch (error) {
      this.#report({
        kind: "rotation_failed",
        message: `${place.label} is saved, but its journal could not be shortened (${ioReason(error)})`,
        cause: error,
      });
      return null;
    }
  }

  async #end(place: Place, journal: OpenJournal, kind: EndRecord["kind"]): Promise<boolean> {
    const prev = journal.position.chain.revision;
    const step: EndRecord = { kind, prev, op: uuidv7(), at: new Date().toISOString() };
    const addition = { line: encodeEnd(step), step };
    return (await appendRecord(place, journal, addition, this.#report)) === "accepted";
  }

  async #startNextGeneration(place: Place): Promise<"again"> {
    await finishGeneration(this.#disk, place, this.#report);
    return "again";
  }

  async #erase(place: Place): Promise<void> {
    try {
      await finishGeneration(this.#disk, place, this.#report);
      await this.#disk.syncDirectories(place.directory);
      await removePast(place);
    } catch (error) {
      throw unknownOutcome(`deleting ${place.label}`, error);
    }
  }

  #isSuspect(place: Place, position: Position): boolean {
    const generation = this.#suspects.get(place.directory);
    if (generation !== undefined && generation !== position.generation)
      this.#suspects.delete(place.directory);
    return generation === position.generation;
  }

  /**
   * Writes the document to new files. After a failed sync the system may take the same pages for clean, so that another
   * sync of the same file succeeds without having written anything.
   */
  async #rewriteSuspect(
    place: Place,
    journal: OpenJournal,
    mayHaveApplied: boolean,
  ): Promise<"again"> {
    try {
      if (journal.position.chain.state === "open") await this.#end(place, journal, "seal");
      return await this.#startNextGeneration(place);
    } catch (error) {
      const attempt = `save ${place.label}`;
      throw mayHaveApplied ? unknownOutcome(attempt, error) : unavailable(attempt, error);
    }
  }
}

function conflict(place: Place, storedRevision: Revision | null): StateConflictError {
  return new StateConflictError(
    `${place.label} was changed by another process since it was loaded; nothing was written: load it again`,
    { storedRevision },
  );
}
