import type { ConversationLog, LogRecord, Reach, Slot } from "@holdfast/core";
import { StateCorruptError } from "@holdfast/core";
import { BoundedMap } from "@holdfast/core/plugin-kit";
import type {
  LogDraft,
  LogFinds,
  LogQuery,
  LogRange,
  LogSessionPage,
  LogSessionQuery,
} from "@holdfast/core/store-kit";
import { blobRef, checkSlot, describeSlot, slotText } from "@holdfast/core/store-kit";
import type { KeyRing } from "./key-ring.js";
import { type OpenedRecord, openRecord, sealDraft } from "./sealed-record.js";
import { Seals } from "./seals.js";
import { searchSealedLog } from "./search-sealed-log.js";

/** Records read at a time when looking for the one that names a blob. */
const LOOKUP_PAGE = 200;
/** References remembered; each takes a few hundred bytes. */
const MAX_KNOWN_REFS = 4_096;
const reference = /^sha256:[0-9a-f]{64}$/;

/** Conversation log whose backend sees nothing but sealed records and blobs. */
export class EncryptedLog implements ConversationLog {
  readonly contract: 1;
  readonly kind: string;
  readonly reach: Reach;
  readonly #inner: ConversationLog;
  readonly #ring: KeyRing;
  /** Names under which the inner log keeps the blobs seen last, by slot and reference. */
  readonly #innerRefs = new BoundedMap<string, string>({ maxEntries: MAX_KNOWN_REFS });

  constructor(inner: ConversationLog, ring: KeyRing) {
    this.contract = inner.contract;
    this.kind = `encrypted-${inner.kind}`;
    this.reach = inner.reach;
    this.#inner = inner;
    this.#ring = ring;
  }

  async append(slot: Slot, records: readonly LogDraft[]): Promise<void> {
    const owner = checkSlot(slot);
    const sealed = records.map((draft) => sealDraft(this.#ring, owner, draft));
    await this.#inner.append(owner, sealed);
  }

  async read(slot: Slot, range?: LogRange): Promise<readonly LogRecord[]> {
    const owner = checkSlot(slot);
    const stored = await this.#inner.read(owner, range);
    return stored.map((record) => this.#open(owner, record).record);
  }

  async readBlob(slot: Slot, ref: string): Promise<string | null> {
    const owner = checkSlot(slot);
    const known = this.#innerRefs.get(slotText(owner) + ref);
    const blob = known === undefined ? null : await this.#innerBlob(owner, ref, known);
    if (blob !== null || !reference.test(ref)) return blob;
    const found = await this.#lookUp(owner, ref);
    return found === undefined ? null : this.#innerBlob(owner, ref, found);
  }

  search(query: LogQuery): Promise<LogFinds> {
    return searchSealedLog(this, query);
  }

  /** Lists sessions as the inner log does: their ids and times are not sealed. */
  sessions(query: LogSessionQuery): Promise<LogSessionPage> {
    return this.#inner.sessions(query);
  }

  delete(slot: Slot): Promise<boolean> {
    return this.#inner.delete(slot);
  }

  async #innerBlob(slot: Slot, ref: string, innerRef: string): Promise<string | null> {
    const stored = await this.#inner.readBlob(slot, innerRef);
    if (stored === null) return null;
    const what = `a long text of ${describeSlot(slot)}`;
    const blob =
      innerRef === ref
        ? stored
        : new Seals(this.#ring, "holdfast.blob.1", slotText(slot)).openText(stored, what);
    if (blobRef(blob) !== ref)
      throw new StateCorruptError(
        `${what} is not the one its record names: it was changed in the store`,
      );
    return blob;
  }

  /** Finds the inner name of a blob in the slot's records, newest first. */
  async #lookUp(slot: Slot, ref: string): Promise<string | undefined> {
    let before: number | undefined;
    for (;;) {
      const page = await this.#inner.read(slot, { before, limit: LOOKUP_PAGE });
      if (page.length === 0) return undefined;
      for (const stored of [...page].reverse()) {
        const found = stored.blobs && this.#open(slot, stored).innerRefs.get(ref);
        if (found !== undefined) return found;
      }
      before = page[0]?.seq;
    }
  }

  #open(slot: Slot, stored: LogRecord): OpenedRecord {
    const opened = openRecord(this.#ring, slot, stored);
    for (const [ref, inner] of opened.innerRefs) this.#innerRefs.set(slotText(slot) + ref, inner);
    return opened;
  }
}
