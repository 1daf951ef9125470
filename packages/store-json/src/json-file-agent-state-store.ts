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
  type LoadedState,
  refuseFusedParts,
  type StateWrite,
} from "@holdfast/core/store-kit";
import { VersionedDocuments } from "./document/versioned-documents.js";
import { FileSessionGate } from "./gate/file-session-gate.js";
import { Disk } from "./io/disk.js";
import { FileKeyValueStore } from "./key-value/file-key-value-store.js";
import { COMPANION_FOLDERS, slotPlace } from "./layout.js";
import { JsonlConversationLog } from "./log/jsonl-conversation-log.js";
import { checkOptions, type FileOptions, fileOptionRules, stateRoot } from "./options.js";
import { safeReport } from "./report.js";
import { FileSignalBus } from "./signals/file-signal-bus.js";
import { SlotListing } from "./slot-listing.js";

/** Options of a {@link JsonFileAgentStateStore}. */
export interface JsonFileStoreOptions extends Omit<FileOptions, "root"> {
  /** @default the environment variable `HOLDFAST_STATE_HOME`, else `~/.holdfast/state` */
  readonly root?: string | undefined;
}

/** A head is meant to be small: each changed field is written again whole. */
const MAX_HEAD_BYTES = 256 * 1_024;
const MAX_MESSAGE_BYTES = 16 * 1_024 * 1_024;

/**
 * Keeps agent states in readable JSON files on one host: a directory per session, with a snapshot and a journal.
 *
 * Contract, beyond {@link AgentStateStore}'s:
 * - Any number of processes of the host may use the same root at once; none overwrites another's save.
 * - After a crash at any instant a session loads as it was last acknowledged, or with the whole save that was under way.
 * - A save writes what changed, whatever the length of the session.
 * - Constructing does no I/O, and nothing stays open between commands.
 *
 * @example
 * const store = new JsonFileAgentStateStore({ root: "./state" });
 */
export class JsonFileAgentStateStore implements AgentStateStore {
  readonly contract = 1;
  readonly kind = "json";
  readonly reach = "host";
  /** Directory of all files. */
  readonly root: string;
  readonly #documents: VersionedDocuments;
  readonly #listing: SlotListing;
  readonly #companions: DistributedStore;

  constructor(options: JsonFileStoreOptions = {}) {
    const root = stateRoot(options.root);
    checkOptions(
      "JsonFileAgentStateStore",
      { ...options, root: options.root ?? root },
      fileOptionRules,
    );
    const { durability = "fsync", onReport } = options;
    const disk = new Disk(durability);
    const report = safeReport(onReport);
    this.root = root;
    this.#documents = new VersionedDocuments({
      disk,
      report,
      limits: { headBytes: MAX_HEAD_BYTES, messageBytes: MAX_MESSAGE_BYTES },
    });
    this.#listing = new SlotListing(root, report);
    const below = (folder: keyof typeof COMPANION_FOLDERS): { root: string } => ({
      root: join(root, COMPANION_FOLDERS[folder]),
    });
    this.#companions = {
      stateStore: this,
      log: new JsonlConversationLog({ ...below("log"), durability, onReport }),
      keyValue: new FileKeyValueStore({ ...below("values"), durability, onReport }),
      gate: new FileSessionGate(below("gates")),
      signals: new FileSignalBus(below("signals")),
    };
  }

  async load(slot: Slot, known?: Revision): Promise<LoadedState | "unchanged" | null> {
    return this.#documents.read(slotPlace(this.root, checkSlot(slot)), known);
  }

  async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const owner = checkSlot(slot);
    refuseFusedParts(owner, write);
    return this.#documents.write(slotPlace(this.root, owner), write);
  }

  async delete(slot: Slot): Promise<boolean> {
    return this.#documents.remove(slotPlace(this.root, checkSlot(slot)));
  }

  async list(query: SlotQuery = {}): Promise<SlotPage> {
    return this.#listing.list(query);
  }

  /** Returns the log, values, gate and signals below the same root. */
  companions(): DistributedStore {
    return this.#companions;
  }

  /** Waits for the commands under way; nothing else is open. */
  async close(): Promise<void> {
    await this.#documents.idle();
  }
}
