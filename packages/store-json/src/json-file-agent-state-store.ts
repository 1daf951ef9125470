import { join } from "node:path";
import type {
  AgentStateStore,
  DistributedStore,
  Revision,
  Slot,
  SlotPage,
  SlotQuery,
} from "@holdfast/core";
import {
  checkSlot,
  describeSlot,
  ExpirySweep,
  type Inbox,
  type LoadAnswer,
  refuseFusedParts,
  type SessionExpiry,
  type StateWrite,
  stateConflict,
} from "@holdfast/core/store-kit";
import type { Place } from "./document/place.js";
import { VersionedDocuments } from "./document/versioned-documents.js";
import { ExpiredSessions } from "./expiry/expired-sessions.js";
import { SessionLife } from "./expiry/session-life.js";
import { FileEventFeed } from "./feed/file-event-feed.js";
import { FileSessionGate } from "./gate/file-session-gate.js";
import { FileInbox } from "./inbox/file-inbox.js";
import { Disk } from "./io/disk.js";
import { unavailable } from "./io/io-error.js";
import { FileKeyValueStore } from "./key-value/file-key-value-store.js";
import { bySlot, COMPANION_FOLDERS, slotPlace } from "./layout.js";
import { JsonlConversationLog } from "./log/jsonl-conversation-log.js";
import {
  checkOptions,
  type FileOptions,
  fileOptionRules,
  type OptionRule,
  stateRoot,
} from "./options.js";
import { safeReport } from "./report.js";
import { SessionScan } from "./session-scan.js";
import { FileSignalBus } from "./signals/file-signal-bus.js";
import { SlotListing } from "./slot-listing.js";
import { WaitingMarks } from "./waiting-marks.js";

/** Options of a {@link JsonFileAgentStateStore}. */
export interface JsonFileStoreOptions extends Omit<FileOptions, "root"> {
  /** @default the environment variable `HOLDFAST_STATE_HOME`, else `~/.holdfast/state` */
  readonly root?: string | undefined;
  /**
   * A session expires, with its log and its inbox, when it was neither loaded nor saved for this long; never while a call on it
   * runs or waits. @default never
   */
  readonly ttlMs?: number | undefined;
  /** Clock for `ttlMs`, for tests; every process of the root must have the same. @default that of the file system */
  readonly clock?: (() => Date) | undefined;
}

const rules: { readonly [name in keyof JsonFileStoreOptions]-?: OptionRule } = {
  ...fileOptionRules,
  root: {
    ...fileOptionRules.root,
    accepts: (value) => value === undefined || fileOptionRules.root.accepts(value),
  },
  ttlMs: {
    accepts: (value) => value === undefined || (Number.isInteger(value) && Number(value) > 0),
    wanted: "a whole number of milliseconds",
  },
  clock: {
    accepts: (value) => value === undefined || typeof value === "function",
    wanted: "a function that returns a Date",
  },
};

/**
 * A head is meant to be small: each changed field is written again whole. The engine allows its sections 256 KB, and keeps
 * them twice while a run saves its steps.
 */
const MAX_HEAD_BYTES = 1_024 * 1_024;
const MAX_MESSAGE_BYTES = 16 * 1_024 * 1_024;

/**
 * Keeps agent states in readable JSON files on one host: a directory per session, with a snapshot and a journal.
 *
 * Contract, beyond {@link AgentStateStore}'s:
 * - Any number of processes of the host may use the same root at once; none overwrites another's save.
 * - After a crash at any instant a session loads as it was last acknowledged, or with the whole save that was under way.
 * - A save writes what changed, whatever the length of the session.
 * - Constructing does no I/O. Files of the sessions used last stay open until they were idle for five seconds, at most 256 of a
 *   kind.
 *
 * @example
 * const store = new JsonFileAgentStateStore({ root: "./state" });
 */
export class JsonFileAgentStateStore implements AgentStateStore {
  readonly contract = 1;
  readonly kind = "json";
  readonly reach = "host";
  readonly keepsCallRecords = true;
  /** Directory of all files. */
  readonly root: string;
  readonly #placeOf: (slot: Slot) => Place;
  readonly #documents: VersionedDocuments;
  readonly #inbox: FileInbox;
  readonly #listing: SlotListing;
  readonly #waiting: WaitingMarks;
  readonly #companions: DistributedStore;
  readonly #parts: readonly { close(): Promise<void> }[];
  /** Absent when sessions do not expire. */
  readonly #life: SessionLife | undefined;
  readonly #sweep: ExpirySweep | undefined;

  constructor(options: JsonFileStoreOptions = {}) {
    checkOptions("JsonFileAgentStateStore", options, rules);
    const root = stateRoot(options.root);
    const { durability = "fsync", onReport, ttlMs, clock } = options;
    const disk = new Disk(durability);
    const report = safeReport(onReport);
    this.root = root;
    this.#placeOf = bySlot((slot) => slotPlace(root, slot));
    this.#documents = new VersionedDocuments({
      disk,
      report,
      limits: { headBytes: MAX_HEAD_BYTES, messageBytes: MAX_MESSAGE_BYTES },
    });
    const begin = (slot: Slot): Promise<void> => this.#begin(slot);
    const isExpired = (slot: Slot): Promise<boolean> => this.#isExpired(slot);
    this.#inbox = new FileInbox(root, disk, report, { begin, isExpired });
    this.#waiting = new WaitingMarks(root, disk);
    const scan = new SessionScan({ root, report, marks: this.#waiting, isExpired });
    this.#listing = new SlotListing(scan);
    const below = (folder: keyof typeof COMPANION_FOLDERS): { root: string } => ({
      root: join(root, COMPANION_FOLDERS[folder]),
    });
    const log = new JsonlConversationLog({ ...below("log"), durability, onReport }, begin);
    if (ttlMs !== undefined) {
      const removeState = (slot: Slot): Promise<void> => this.#remove(slot).then(() => undefined);
      this.#life = new SessionLife({ root, ttlMs, clock, removeState, log });
      const expired = new ExpiredSessions(root, this.#life);
      this.#sweep = new ExpirySweep(ttlMs, () => expired.sweep());
    }
    const keyValue = new FileKeyValueStore({ ...below("values"), durability, onReport });
    const gate = new FileSessionGate(below("gates"), begin);
    const signals = new FileSignalBus(below("signals"));
    const eventFeed = new FileEventFeed(below("feeds"));
    this.#companions = { stateStore: this, log, keyValue, gate, signals, eventFeed };
    this.#parts = [log, keyValue, gate, signals, eventFeed];
  }

  /** Present with `ttlMs`. */
  get expiry(): SessionExpiry | undefined {
    return this.#life;
  }

  /** Inbox of the sessions; an entry is a file beside the session's state. */
  get inbox(): Inbox {
    return this.#inbox;
  }

  async load(slot: Slot, known?: Revision): Promise<LoadAnswer> {
    const owner = checkSlot(slot);
    const place = this.#placeOf(owner);
    if (this.#life === undefined) return this.#documents.read(place, known);
    if (await this.#isExpired(owner)) return null;
    const loaded = await this.#documents.read(place, known);
    // A disk that refuses writes can still be read.
    if (loaded !== null) await this.#life.use(owner).catch(() => undefined);
    return loaded;
  }

  async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const owner = checkSlot(slot);
    refuseFusedParts(owner, write);
    const { expected, op, info } = write;
    const waits = info && info.waiting === true;
    let ended: readonly string[] = [];
    const revision = await this.#documents.write(this.#placeOf(owner), write, async () => {
      if (expected !== null && (await this.#isExpired(owner)))
        throw stateConflict(owner, expected, null);
      await this.#begin(owner);
      if (waits) await this.#mark(owner, op);
      else if (waits === false && expected !== null)
        ended = await this.#marksBefore(owner, expected);
    });
    // What is left behind is removed by a listing.
    await this.#waiting.remove(ended).catch(() => undefined);
    return revision;
  }

  async delete(slot: Slot): Promise<boolean> {
    return this.#remove(checkSlot(slot));
  }

  async list(query: SlotQuery = {}): Promise<SlotPage> {
    return this.#listing.list(query);
  }

  /** Returns the log, values, gate, signals and events below the same root. */
  companions(): DistributedStore {
    return this.#companions;
  }

  /** Waits for the commands under way and closes what is kept open for the next ones. */
  async close(): Promise<void> {
    await this.#sweep?.stop();
    await Promise.all([this.#documents.idle(), this.#inbox.idle()]);
    for (const part of this.#parts) await part.close();
  }

  async #remove(slot: Slot): Promise<boolean> {
    const marks = await this.#waiting.of(slot).catch(() => []);
    const existed = await this.#documents.remove(this.#placeOf(slot));
    await this.#inbox.empty(slot);
    await this.#waiting.remove(marks).catch(() => undefined);
    return existed;
  }

  async #mark(slot: Slot, op: string): Promise<void> {
    await this.#waiting.add(slot, op).catch((error: unknown) => {
      throw unavailable(`note that ${describeSlot(slot)} waits`, error);
    });
  }

  /**
   * Returns the marks that a save based on `expected` may remove once it has ended the wait: those from when `expected` was the
   * stored revision. None belongs to a later wait, as when the save is repeated and the session waits again by now.
   */
  async #marksBefore(slot: Slot, expected: Revision): Promise<readonly string[]> {
    const before = this.#documents.infoAt(this.#placeOf(slot), expected);
    if (before !== "unsure" && before?.waiting !== true) return [];
    const marks = await this.#waiting.of(slot).catch(() => []);
    if (marks.length === 0) return [];
    const stored = await this.#documents.read(this.#placeOf(slot), expected);
    return stored === "unchanged" ? marks : [];
  }

  async #isExpired(slot: Slot): Promise<boolean> {
    this.#sweep?.start();
    if (this.#life === undefined) return false;
    return this.#life.isExpired(slot).catch((error: unknown) => {
      throw unavailable(`look at the last use of ${describeSlot(slot)}`, error);
    });
  }

  /** Removes a session that has expired before something is stored for it. */
  async #begin(slot: Slot): Promise<void> {
    this.#sweep?.start();
    await this.#life?.begin(slot).catch((error: unknown) => {
      throw unavailable(`note the use of ${describeSlot(slot)}`, error);
    });
  }
}
