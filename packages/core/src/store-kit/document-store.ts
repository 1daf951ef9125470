import { StoreUnavailableError } from "../errors/store-errors.js";
import { parseOptions } from "../plugin-kit/parse-options.js";
import * as s from "../plugin-kit/schema/index.js";
import type {
  AgentStateStore,
  LoadedState,
  Reach,
  Revision,
  SlotPage,
  SlotQuery,
  StateWrite,
} from "../ports/agent-state-store.js";
import type { DistributedStore } from "../ports/distributed-store.js";
import { checkSlot, describeSlot, type Slot, slotKey } from "../slot/slot.js";
import { applyWrite, refuseFusedParts, stateConflict } from "./apply-write.js";
import { withCallRecord } from "./beside-head.js";
import { isForked } from "./change-ledger.js";
import { boundedRead, boundedWrite } from "./deadline.js";
import { checkedClient } from "./document/checked-client.js";
import { type DocumentCompanions, documentCompanions } from "./document/document-companions.js";
import { nodeTimeout } from "./lease/node-timeout.js";
import { listDocuments } from "./list-documents.js";
import { nextRevision, revisionOfOp, withOp } from "./revision.js";
import type { DocumentClient } from "./state-document.js";
import { readStateDocument, type StateDocument } from "./state-document.js";

/** Options of {@link documentStore}. */
export interface DocumentStoreOptions {
  /** Kind of store, for reports. @default "document" */
  readonly kind?: string | undefined;
  /** Scope in which the client's data is visible. @default "process" */
  readonly reach?: Reach | undefined;
  /** First part of every key. @default "" */
  readonly keyPrefix?: string | undefined;
  /** Longest wait for one command of the client. @default 5_000 */
  readonly commandTimeoutMs?: number | undefined;
  /** Clock for the listing's `updatedAt`. @default the system's clock */
  readonly clock?: (() => Date) | undefined;
  /** Time after which the lease of a call that is not heard of expires; for a reach beyond this process. @default 30_000 */
  readonly leaseMs?: number | undefined;
  /** Time without a heartbeat after which a process is taken for dead, less than `leaseMs`. @default 4_000, if that is less */
  readonly nodeTimeoutMs?: number | undefined;
  /**
   * Time between two looks at the gate of a session that a call of this process runs in or waits for: how long a turn or an
   * interrupt from another process takes to be noticed. @default 250
   */
  readonly pollMs?: number | undefined;
  /** Time after which a search of the log ends with what it has found, and says where to go on. @default 2_500 */
  readonly searchMs?: number | undefined;
}

const optionsSchema = s.strictObject({
  kind: s.string().min(1).default("document"),
  reach: s
    .enum(["process", "host", "distributed"], 'must be "process", "host" or "distributed"')
    .default("process"),
  keyPrefix: s.string().default(""),
  commandTimeoutMs: s.int().min(1).default(5_000),
  clock: s
    .custom<() => Date>((value) => typeof value === "function", "a function that returns a Date")
    .default(() => () => new Date()),
  leaseMs: s.int().min(100).default(30_000),
  nodeTimeoutMs: s.int().min(100).optional(),
  pollMs: s.int().min(1).default(250),
  searchMs: s.int().min(0).default(2_500),
});

/** Attempts of a save whose compare-and-set fails although its revision is still the stored one. */
const MAX_ATTEMPTS = 10;

/**
 * Turns a plain key-value client into a conforming store: one JSON document per slot, written whole with every save.
 *
 * - For sessions of moderate size: the cost of a save grows with the session, not with the change.
 * - A listing reads the documents it lists, and for one page at most 10 blocks of 1,000 of which it selects none: such a page
 *   is empty and has a cursor. It is sorted up to 1,000 sessions, and beyond that in blocks of 1,000. Sessions
 *   saved since the first page of their block come at its end. A listing under way can miss a session when the clocks of
 *   writers differ, or when sessions are deleted from a block of 1,000 that others follow.
 * - It keeps call records and listing facts in the document, and has no inbox.
 * - With a reach beyond this process its `companions()` keep gate, signals, log and values over the same client, in documents of
 *   their own, which listings skip unread. They look at the client every `pollMs` instead of being told.
 * - A listing leaves out documents that cannot be read; loading one throws the reason.
 *
 * @throws ConfigurationError when an option is wrong or a command is missing; a command of the store throws it when one of the
 * client answers something else than its contract says
 * @example
 * const store = documentStore({
 *   get: (key) => table.read(key),
 *   compareAndSet: (key, value, version) => table.writeIf(key, value, version),
 *   delete: (key) => table.remove(key),
 *   list: (cursor) => table.keys(cursor),
 * }, { reach: "distributed" });
 */
export function documentStore(
  client: DocumentClient,
  options: DocumentStoreOptions = {},
): AgentStateStore {
  const settings = parseOptions(optionsSchema, options, "documentStore");
  return new DocumentStore(checkedClient(client), settings);
}

class DocumentStore implements AgentStateStore {
  readonly contract = 1;
  readonly kind: string;
  readonly reach: Reach;
  readonly keepsCallRecords = true;
  /** Absent for a store of one process: the in-memory parts serve it better. */
  readonly companions?: () => DistributedStore;
  readonly #client: DocumentClient;
  readonly #options: s.Infer<typeof optionsSchema>;
  readonly #companions: DocumentCompanions | undefined;

  constructor(client: DocumentClient, options: s.Infer<typeof optionsSchema>) {
    const { kind, reach, keyPrefix, commandTimeoutMs } = options;
    this.kind = kind;
    this.reach = reach;
    this.#client = client;
    this.#options = options;
    if (reach === "process") return;
    const source = { client, keyPrefix, commandTimeoutMs };
    const nodeTimeoutMs = nodeTimeout("documentStore", options);
    const companions = documentCompanions(source, { ...options, nodeTimeoutMs });
    const parts: DistributedStore = { ...companions.parts, stateStore: this };
    this.#companions = companions;
    this.companions = () => parts;
  }

  async load(slot: Slot, known?: Revision): Promise<LoadedState | "unchanged" | null> {
    const { document } = await this.#get(checkSlot(slot), "loading");
    if (document === null) return null;
    const { revision, ops, head, messages, callRecords = [], info } = document;
    if (revision === known) return "unchanged";
    const saved = ops.map(([, revision]) => revision);
    const rolledBack = known !== undefined && isForked([], known, saved);
    return {
      ...{ revision, head, messages, callRecords, ...(info && { info }) },
      ...(rolledBack && { rolledBack }),
    };
  }

  async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const owner = checkSlot(slot);
    refuseFusedParts(owner, write);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { document, version } = await this.#get(owner, "saving");
      const repeated = revisionOfOp(document?.ops ?? [], write.op);
      if (repeated !== undefined) return repeated;
      const stored = document?.revision ?? null;
      if (stored !== write.expected) throw stateConflict(owner, write.expected, stored);
      const next = this.#next(owner, document, write);
      const written = await boundedWrite(`saving ${describeSlot(owner)}`, this.#timeout, () =>
        this.#client.compareAndSet(this.#key(owner), JSON.stringify(next), version),
      );
      if (written) return next.revision;
    }
    throw new StoreUnavailableError(
      `saving ${describeSlot(owner)} failed: the client refused ${MAX_ATTEMPTS} writes of an unchanged document; try again later`,
    );
  }

  async delete(slot: Slot): Promise<boolean> {
    const owner = checkSlot(slot);
    return boundedWrite(`deleting ${describeSlot(owner)}`, this.#timeout, () =>
      this.#client.delete(this.#key(owner)),
    );
  }

  async list(query: SlotQuery = {}): Promise<SlotPage> {
    const { keyPrefix, commandTimeoutMs } = this.#options;
    return listDocuments({ client: this.#client, keyPrefix, commandTimeoutMs }, query);
  }

  async close(): Promise<void> {
    await this.#companions?.close();
  }

  get #timeout(): number {
    return this.#options.commandTimeoutMs;
  }

  #key(slot: Slot): string {
    return this.#options.keyPrefix + slotKey(slot);
  }

  async #get(
    slot: Slot,
    doing: string,
  ): Promise<{ document: StateDocument | null; version: string | null }> {
    const found = await boundedRead(`${doing} ${describeSlot(slot)}`, this.#timeout, () =>
      this.#client.get(this.#key(slot)),
    );
    if (found === null) return { document: null, version: null };
    return { document: readStateDocument(found.value, slot), version: found.version };
  }

  #next(slot: Slot, document: StateDocument | null, write: StateWrite): StateDocument {
    const revision = write.revision ?? nextRevision(document?.revision ?? null);
    const { callRecords = [], info } = document ?? {};
    const { callRecord } = write;
    return {
      v: 1,
      slot,
      revision,
      ops: withOp(document?.ops ?? [], write.op, revision),
      updatedAt: this.#options.clock().toISOString(),
      head: write.head,
      messages: applyWrite(document?.messages ?? [], write, slot),
      callRecords: callRecord
        ? withCallRecord(callRecords, callRecord.record, callRecord.keep)
        : callRecords,
      info: write.info ?? info,
    };
  }
}
