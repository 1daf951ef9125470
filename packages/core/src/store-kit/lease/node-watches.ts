import type { NodeName } from "./claim-token.js";
import { Heartbeat } from "./heartbeat.js";
import type { NodeBeats } from "./lease-backend.js";
import { elapsedMs, type Moment, presentMoment } from "./moment.js";

/** Claim that waits behind one of the watched node. */
interface Watcher {
  /** Time at which it learned of the claim before it, on the clock of `performance.now()`. */
  readonly since: number;
  onSilence(): void;
}

/** Watches on the nodes of claims that calls of this process wait behind, one for all that wait behind the same node. */
export class NodeWatches {
  readonly #nodes: NodeBeats;
  readonly #beat: () => Promise<void>;
  readonly #watches = new Map<string, NodeWatch>();

  /** @param beat - sends a heartbeat of this process: a store that refuses it may refuse those of others */
  constructor(nodes: NodeBeats, beat: () => Promise<void>) {
    this.#nodes = nodes;
    this.#beat = beat;
  }

  /**
   * Calls `onSilence` whenever a look finds that the node has not been heard of for its `timeoutMs`, counted from now on and
   * only while the store answered.
   *
   * @returns the function that ends the watch
   */
  add(node: NodeName, onSilence: () => void): () => void {
    const watcher: Watcher = { since: performance.now(), onSilence };
    const watch = this.#watches.get(node.id) ?? new NodeWatch(node, this.#nodes, this.#beat);
    this.#watches.set(node.id, watch);
    watch.watchers.add(watcher);
    return () => {
      watch.watchers.delete(watcher);
      if (watch.watchers.size > 0) return;
      watch.end();
      if (this.#watches.get(node.id) === watch) this.#watches.delete(node.id);
    };
  }
}

class NodeWatch {
  readonly watchers = new Set<Watcher>();
  readonly #node: NodeName;
  readonly #nodes: NodeBeats;
  readonly #beat: () => Promise<void>;
  readonly #heartbeat = new Heartbeat(() => this.#look());
  /** Heartbeat that was last found, and when the last answer came. */
  #last: { readonly beat: string | null; readonly at: Moment } | undefined;
  /** Time of the answer with which the unbroken series of looks at the same heartbeat began. */
  #since = 0;

  constructor(node: NodeName, nodes: NodeBeats, beat: () => Promise<void>) {
    this.#node = node;
    this.#nodes = nodes;
    this.#beat = beat;
    // Not at once: most waits are over before.
    this.#heartbeat.schedule(node.timeoutMs / 16);
  }

  end(): void {
    void this.#heartbeat.stop();
  }

  async #look(): Promise<number> {
    const { id, timeoutMs } = this.#node;
    try {
      await this.#beat();
      const sentAt = performance.now();
      return this.#heed(await this.#nodes.lastBeat(id, timeoutMs / 3), sentAt);
    } catch {
      this.#last = undefined;
      return timeoutMs / 8;
    }
  }

  /** Returns the time until the next look. */
  #heed(beat: string | null, sentAt: number): number {
    const { timeoutMs } = this.#node;
    const { beat: before = null, at } = this.#last ?? {};
    // One that is gone has expired: no heartbeat.
    const isSame = beat === null || beat === before;
    const isUnbroken = at !== undefined && elapsedMs(at) < timeoutMs / 3;
    if (!isSame || !isUnbroken) this.#since = performance.now();
    this.#last = { beat: beat ?? before, at: presentMoment() };
    let nextMs = timeoutMs / 8;
    for (const { since, onSilence } of [...this.watchers]) {
      const leftMs = Math.max(since, this.#since) + timeoutMs - sentAt;
      if (leftMs > 0) nextMs = Math.min(nextMs, leftMs);
      else onSilence();
    }
    return nextMs;
  }
}
