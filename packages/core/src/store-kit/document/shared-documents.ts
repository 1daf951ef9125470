import { StateTooNewError } from "../../errors/errors.js";
import { StateCorruptError, StoreUnavailableError } from "../../errors/store-errors.js";
import { isRecord } from "../../json/json.js";
import { boundedRead, boundedWrite, sleep } from "../deadline.js";
import type { DocumentSource } from "../list-documents.js";
import { damagedAdvice, type StoredDocument } from "../state-document.js";

/** Documents of one kind that many processes change, each under the hash that names it. */
export interface SharedDocumentOptions<D> {
  /** End of the key of every document of this kind: letters and digits after a hyphen, which no key of a state has. */
  readonly suffix: string;
  /** Tells whether a parsed value with `v: 1` is a document of this kind. */
  readonly isDocument: (value: Record<string, unknown>) => boolean;
  /** Called with every document that was read, before it is changed, and with the changed one once it is written. */
  readonly onSeen?: ((name: string, document: D | null) => void) | undefined;
}

/** Result of a change: `next` is written unless it is absent. */
export interface DocumentChange<D, T> {
  readonly next?: D | undefined;
  readonly result: T;
}

/** Change that waits for its turn. */
interface PendingChange<D> {
  readonly deadline: number;
  /** Set when its caller has stopped waiting: it is not begun any more. */
  isOver: boolean;
  /** Computes the change; the function returned settles the caller's promise. */
  apply(document: D | null): { readonly next: D | undefined; settle(): void };
  fail(error: unknown): void;
}

/** Longest pause before a change is repeated that another process got ahead of. */
const MAX_PAUSE_MS = 100;

/**
 * Changes documents by reading them and writing them back by compare-and-set, again until no other process came in between.
 *
 * Changes of one document that a process has at the same time are made in their order, with one write.
 */
export class SharedDocuments<D extends { readonly v: 1 }> {
  readonly #source: DocumentSource;
  readonly #options: SharedDocumentOptions<D>;
  readonly #pending = new Map<string, PendingChange<D>[]>();

  constructor(source: DocumentSource, options: SharedDocumentOptions<D>) {
    this.#source = source;
    this.#options = options;
  }

  /** Reads a document; `null` when there is none. @throws StoreError */
  async read(name: string, what: string, deadlineMs?: number): Promise<D | null> {
    return (await this.#get(name, what, deadlineMs)).document;
  }

  /**
   * Changes a document.
   *
   * @param change - computes the new document; called again when another process was faster, so it has no effects of its own
   * @throws StoreUnavailableError when nothing was written, UnknownOutcomeError when it is not known
   */
  update<T>(
    name: string,
    what: string,
    change: (document: D | null) => DocumentChange<D, T>,
    deadlineMs: number = this.#source.commandTimeoutMs,
  ): Promise<T> {
    let pending: PendingChange<D> | undefined;
    const settled = new Promise<T>((resolve, reject) => {
      pending = {
        deadline: performance.now() + deadlineMs,
        isOver: false,
        apply(document) {
          const { next, result } = change(document);
          return { next, settle: () => resolve(result) };
        },
        fail: reject,
      };
      this.#enqueue(name, what, pending);
    });
    // Also rejected when nobody waits any more.
    settled.catch(() => undefined);
    return boundedWrite(what, deadlineMs, () => settled).finally(() => {
      if (pending !== undefined) pending.isOver = true;
    });
  }

  /** Writes a document that is not there yet; resolves to `false` when there is one. @throws StoreError */
  create(name: string, what: string, document: D): Promise<boolean> {
    return this.update(name, what, (stored) =>
      stored === null ? { next: document, result: true } : { result: false },
    );
  }

  /** Deletes a document, whatever it holds; resolves to `false` when there was none. @throws StoreError */
  remove(name: string, what: string): Promise<boolean> {
    const { client, commandTimeoutMs } = this.#source;
    return boundedWrite(what, commandTimeoutMs, () => client.delete(this.#key(name)));
  }

  #enqueue(name: string, what: string, change: PendingChange<D>): void {
    const queue = this.#pending.get(name);
    if (queue !== undefined) {
      queue.push(change);
      return;
    }
    this.#pending.set(name, [change]);
    void this.#run(name, what);
  }

  async #run(name: string, what: string): Promise<void> {
    const queue = this.#pending.get(name) ?? [];
    while (queue.length > 0) {
      const batch = queue.splice(0).filter(({ isOver }) => !isOver);
      if (batch.length > 0)
        await this.#apply(name, what, batch).catch((error: unknown) => {
          for (const change of batch) change.fail(error);
        });
    }
    this.#pending.delete(name);
  }

  async #apply(name: string, what: string, batch: readonly PendingChange<D>[]): Promise<void> {
    const deadline = Math.max(...batch.map((change) => change.deadline));
    for (let attempt = 1; ; attempt++) {
      const leftMs = Math.max(deadline - performance.now(), 1);
      const { document, version } = await this.#get(name, what, leftMs);
      const { next, settle } = applyAll(batch, document);
      if (next === undefined || (await this.#write(name, what, next, version, leftMs))) {
        if (next !== undefined) this.#options.onSeen?.(name, next);
        settle();
        return;
      }
      // Exponential backoff with full jitter
      const pauseMs = Math.random() * Math.min(MAX_PAUSE_MS, 2 ** attempt);
      if (performance.now() + pauseMs >= deadline)
        throw new StoreUnavailableError(
          `${what} failed: other processes changed the same document all the time; try again later`,
        );
      await sleep(pauseMs);
    }
  }

  async #get(
    name: string,
    what: string,
    deadlineMs: number = this.#source.commandTimeoutMs,
  ): Promise<{ document: D | null; version: string | null }> {
    const { client } = this.#source;
    const found = await boundedRead(what, deadlineMs, () => client.get(this.#key(name)));
    const document = found === null ? null : this.#parse(found, what);
    this.#options.onSeen?.(name, document);
    return { document, version: found?.version ?? null };
  }

  #write(
    name: string,
    what: string,
    document: D,
    version: string | null,
    deadlineMs: number,
  ): Promise<boolean> {
    const { client } = this.#source;
    return boundedWrite(what, deadlineMs, () =>
      client.compareAndSet(this.#key(name), JSON.stringify(document), version),
    );
  }

  #key(name: string): string {
    return this.#source.keyPrefix + name + this.#options.suffix;
  }

  #parse({ value: text }: StoredDocument, what: string): D {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      // Refused below; the parser's own message quotes the text, and contents stay out of errors.
    }
    if (isRecord(value) && typeof value["v"] === "number" && value["v"] > 1)
      throw new StateTooNewError(
        `${what} failed: a stored document has form ${value["v"]}; this release reads form 1, upgrade @holdfast/core`,
      );
    if (isRecord(value) && value["v"] === 1 && this.#options.isDocument(value))
      return value as unknown as D;
    throw new StateCorruptError(`${what} failed: a stored document is damaged${damagedAdvice}`);
  }
}

/** Makes changes one after the other; one that throws changes nothing and fails alone. */
function applyAll<D>(
  batch: readonly PendingChange<D>[],
  stored: D | null,
): { next: D | undefined; settle(): void } {
  let next: D | undefined;
  const settles: (() => void)[] = [];
  for (const change of batch) {
    try {
      const made = change.apply(next ?? stored);
      next = made.next ?? next;
      settles.push(made.settle);
    } catch (error) {
      settles.push(() => change.fail(error));
    }
  }
  return { next, settle: () => settles.forEach((settle) => void settle()) };
}
