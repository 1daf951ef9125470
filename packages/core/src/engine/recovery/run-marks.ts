import { randomBytes } from "node:crypto";
import { StateConflictError } from "../../errors/store-errors.js";
import type { JsonValue } from "../../json/json.js";
import * as s from "../../plugin-kit/schema/index.js";
import type { KeyValueStore } from "../../ports/key-value-store.js";
import { Heartbeat } from "../../store-kit/lease/heartbeat.js";
import { elapsedMs, type Moment, presentMoment } from "../../store-kit/lease/moment.js";

/** Time between two heartbeats of a node that has marks. */
const BEAT_MS = 2_000;

/** Pause after a heartbeat that failed. */
const RETRY_MS = 500;

/** Most nodes that are looked at. */
const MAX_NODES = 1_000;

/** Run that has to be continued by another node if its own dies. */
export interface RunMark {
  readonly userId: string | null;
  readonly sessionId: string;
  readonly callId: string;
  /** Attempts of other nodes to continue it. */
  readonly attempts: number;
  /** Time before which it is not tried again; ISO 8601. */
  readonly notBefore?: string | undefined;
}

/** Mark as it is stored. */
export interface StoredMark {
  readonly key: string;
  readonly mark: RunMark;
  readonly version: string;
}

const runMark: s.Schema<RunMark> = s.object({
  userId: s.string().nullable(),
  sessionId: s.string(),
  callId: s.string(),
  attempts: s.number().int().min(0),
  notBefore: s.string().optional(),
});

/**
 * Marks of the runs of this node in the key-value store, and the node's record there, by which others find them.
 *
 * Contract:
 * - The record of a node gets a new version every 2 s while the node has marks. A record that stands still is that of a node
 *   which died, or which has no marks.
 * - A mark is there before its run begins, and is removed when the caller of the run was told how it ended. A removal that
 *   fails is repeated with the next heartbeat.
 */
export class RunMarks {
  readonly nodeId: string = randomBytes(12).toString("base64url");
  readonly #values: KeyValueStore;
  readonly #agentId: string;
  /** Keys of the marks that this node has stored, or may have. */
  readonly #kept = new Set<string>();
  /** Those of runs that have ended. */
  readonly #ended = new Set<string>();
  readonly #pending = new Set<Promise<unknown>>();
  #heartbeat: Heartbeat | undefined;
  #beatAt: Moment | undefined;
  #beating: Promise<void> | undefined;

  constructor(values: KeyValueStore, agentId: string) {
    this.#values = values;
    this.#agentId = agentId;
  }

  /** Stores a mark of this node. @throws StoreError */
  async put(key: string, mark: RunMark): Promise<void> {
    this.#kept.add(key);
    // A removal that failed before must not be repeated.
    this.#ended.delete(key);
    this.#heartbeat ??= this.#startBeating();
    const isFresh = this.#beatAt !== undefined && elapsedMs(this.#beatAt) < BEAT_MS;
    await Promise.all([
      isFresh || this.#beat(),
      this.#values.put(this.#marksOf(this.nodeId), key, stored(mark)),
    ]);
  }

  /** Removes a mark of this node, beside other work. */
  end(key: string): void {
    if (!this.#kept.delete(key)) return;
    this.#ended.add(key);
    this.track(this.#remove(key));
  }

  /** Lets {@link close} wait for work on the marks. */
  track(work: Promise<unknown>): void {
    const tracked = work.catch(() => undefined).finally(() => this.#pending.delete(tracked));
    this.#pending.add(tracked);
  }

  /** Stops the heartbeats when the work on the marks is over; marks that are left are found by others. */
  async close(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
    await this.#heartbeat?.stop();
    this.#heartbeat = undefined;
    if (this.#beatAt !== undefined && this.#kept.size + this.#ended.size === 0)
      await this.#values.delete(this.#nodes(), this.nodeId).catch(() => undefined);
  }

  /** Returns the other nodes that have a record, and the version of each. @throws StoreError */
  async others(): Promise<ReadonlyMap<string, string>> {
    const { keys } = await this.#values.list(this.#nodes(), { limit: MAX_NODES });
    const ids = keys.filter((id) => id !== this.nodeId);
    const found = ids.length === 0 ? [] : await this.#values.getMany(this.#nodes(), ids);
    return new Map(ids.flatMap((id, at) => (found[at] ? [[id, found[at].version]] : [])));
  }

  /** Returns the oldest marks of another node, up to a page of them. @throws StoreError */
  async marksOf(nodeId: string): Promise<readonly StoredMark[]> {
    const namespace = this.#marksOf(nodeId);
    const { keys } = await this.#values.list(namespace);
    const found = keys.length === 0 ? [] : await this.#values.getMany(namespace, keys);
    return keys.flatMap((key, at) => {
      const { value, version = "" } = found[at] ?? {};
      const { data: mark } = runMark.safeParse(value);
      return mark ? [{ key, mark, version }] : [];
    });
  }

  /**
   * Makes the mark of another node one of this node; of several nodes that try one succeeds.
   *
   * @param mark - what it becomes
   * @returns whether it is this node's now
   */
  async takeOver(nodeId: string, { key, version }: StoredMark, mark: RunMark): Promise<boolean> {
    // Its own first: a node that dies in between leaves two marks of one run, which is better than none.
    await this.put(key, mark);
    try {
      if (await this.#values.delete(this.#marksOf(nodeId), key, { expected: version })) return true;
    } catch (error) {
      if (!StateConflictError.is(error)) throw error;
    }
    this.end(key);
    return false;
  }

  /** Removes the record of a node that has no marks, unless it has been written since. */
  async forget(nodeId: string, version: string): Promise<void> {
    await this.#values.delete(this.#nodes(), nodeId, { expected: version }).catch(() => undefined);
  }

  #startBeating(): Heartbeat {
    const heartbeat = new Heartbeat(() => this.#beatOn());
    heartbeat.schedule(BEAT_MS);
    return heartbeat;
  }

  /** Beats as long as there are marks; returns the time until the next. */
  async #beatOn(): Promise<number> {
    if (this.#kept.size + this.#ended.size === 0) {
      void this.#heartbeat?.stop();
      this.#heartbeat = undefined;
      return 0;
    }
    try {
      await this.#beat();
      await Promise.all([...this.#ended].map((key) => this.#remove(key)));
      return BEAT_MS * (0.8 + 0.2 * Math.random());
    } catch {
      return RETRY_MS;
    }
  }

  #beat(): Promise<void> {
    this.#beating ??= this.#sendBeat().finally(() => {
      this.#beating = undefined;
    });
    return this.#beating;
  }

  async #sendBeat(): Promise<void> {
    const sentAt = presentMoment();
    await this.#values.put(this.#nodes(), this.nodeId, {});
    this.#beatAt = sentAt;
  }

  async #remove(key: string): Promise<void> {
    await this.#values.delete(this.#marksOf(this.nodeId), key);
    this.#ended.delete(key);
  }

  #nodes(): readonly string[] {
    return ["holdfast.recovery", this.#agentId];
  }

  #marksOf(nodeId: string): readonly string[] {
    return ["holdfast.recovery", this.#agentId, nodeId];
  }
}

function stored({ notBefore, ...mark }: RunMark): JsonValue {
  return { ...mark, ...(notBefore !== undefined && { notBefore }) };
}
