import { BoundedMap } from "../../plugin-kit/bounded-map.js";
import type { NodeName } from "./claim-token.js";
import { Heartbeat } from "./heartbeat.js";
import type { NodeBeats, SeenClaim } from "./lease-backend.js";
import { elapsedMs, type Moment, presentMoment } from "./moment.js";

/** Most claims of other nodes that are remembered; one that was forgotten counts as seen for the first time. */
const MAX_SEEN = 1_000;

/** Part of a node's time for which it is watched after the last question about its calls: until its silence shows. */
const LOOKOUT = 1.25;

/** Claim that waits behind one of the watched node. */
interface Watcher {
  /** Time at which this process learned of the claim before it, on the clock of `performance.now()`. */
  readonly since: number;
  onSilence(): void;
}

/**
 * Watches on other nodes, one for each: of claims that calls of this process wait behind, and of claims that it was asked about.
 *
 * A node that was found silent is watched until its leases have ended, so that its other claims can be judged as well.
 */
export class NodeWatches {
  readonly #nodes: NodeBeats;
  readonly #beat: () => Promise<void>;
  readonly #leaseMs: number;
  readonly #watches = new Map<string, NodeWatch>();
  /** When each claim was first seen as it is, by token. */
  readonly #seen = new BoundedMap<string, { readonly version: string; readonly since: number }>({
    maxEntries: MAX_SEEN,
  });

  /** @param beat - sends a heartbeat of this process: a store that refuses it may refuse those of others */
  constructor(nodes: NodeBeats, leaseMs: number, beat: () => Promise<void>) {
    this.#nodes = nodes;
    this.#leaseMs = leaseMs;
    this.#beat = beat;
  }

  /**
   * Calls `onSilence` whenever a look finds that the node has not been heard of for its `timeoutMs`, counted from when the
   * claim was first seen and only while the store answered; at once when that is known.
   *
   * @returns the function that ends the watch
   */
  add(node: NodeName, claim: SeenClaim, onSilence: () => void): () => void {
    const watcher: Watcher = { since: this.#firstSeen(claim), onSilence };
    const watch = this.#watch(node);
    watch.watchers.add(watcher);
    if (watch.isSilentSince(watcher.since)) onSilence();
    return () => {
      watch.watchers.delete(watcher);
      watch.endIfUnused();
    };
  }

  /** Tells whether the node of a claim is known to be silent, without asking. */
  isSilent(node: NodeName, claim: SeenClaim): boolean {
    const since = this.#firstSeen(claim);
    return this.#watches.get(node.id)?.isSilentSince(since) ?? false;
  }

  /** Watches a node for as long as its silence takes to show. */
  lookOut(node: NodeName): void {
    this.#watch(node).keepFor(LOOKOUT * node.timeoutMs);
  }

  /** Ends all watches. */
  close(): void {
    for (const watch of [...this.#watches.values()]) watch.end();
  }

  #watch(node: NodeName): NodeWatch {
    const known = this.#watches.get(node.id);
    if (known) return known;
    const watch: NodeWatch = new NodeWatch(node, {
      ...{ nodes: this.#nodes, leaseMs: this.#leaseMs, beat: this.#beat },
      onEnd: () => {
        if (this.#watches.get(node.id) === watch) this.#watches.delete(node.id);
      },
    });
    this.#watches.set(node.id, watch);
    return watch;
  }

  #firstSeen({ token, version }: SeenClaim): number {
    const seen = this.#seen.get(token);
    if (seen?.version === version) return seen.since;
    const since = performance.now();
    this.#seen.set(token, { version, since });
    return since;
  }
}

/** Parts of a {@link NodeWatch}. */
interface NodeWatchParts {
  readonly nodes: NodeBeats;
  readonly leaseMs: number;
  beat(): Promise<void>;
  onEnd(): void;
}

class NodeWatch {
  readonly watchers = new Set<Watcher>();
  readonly #node: NodeName;
  readonly #parts: NodeWatchParts;
  readonly #heartbeat = new Heartbeat(() => this.#look());
  /** Heartbeat that was last found, when the look was sent that found it, and when its answer came. */
  #last: { readonly beat: string | null; readonly sentAt: number; readonly at: Moment } | undefined;
  /** Time of the answer with which the unbroken series of looks at the same heartbeat began. */
  #since = 0;
  /** Time until which the watch goes on without watchers. */
  #until = 0;

  constructor(node: NodeName, parts: NodeWatchParts) {
    this.#node = node;
    this.#parts = parts;
    // Not at once: most waits are over before.
    this.#heartbeat.schedule(node.timeoutMs / 16);
  }

  /** Tells whether the last look found that the node had been silent for its time, counted from `since` at the earliest. */
  isSilentSince(since: number): boolean {
    return this.#last !== undefined && this.#leftMs(since, this.#last.sentAt) <= 0;
  }

  keepFor(ms: number): void {
    this.#until = Math.max(this.#until, performance.now() + ms);
  }

  endIfUnused(): void {
    if (this.watchers.size === 0 && performance.now() >= this.#until) this.end();
  }

  end(): void {
    void this.#heartbeat.stop();
    this.#parts.onEnd();
  }

  async #look(): Promise<number> {
    const { id, timeoutMs } = this.#node;
    let nextMs = timeoutMs / 8;
    try {
      await this.#parts.beat();
      const sentAt = performance.now();
      nextMs = this.#heed(await this.#parts.nodes.lastBeat(id, timeoutMs / 3), sentAt);
    } catch {
      this.#last = undefined;
    }
    this.endIfUnused();
    return nextMs;
  }

  /** Returns the time until the next look. */
  #heed(beat: string | null, sentAt: number): number {
    const { timeoutMs } = this.#node;
    const { beat: before = null, at } = this.#last ?? {};
    const wasSilent = this.isSilentSince(this.#since);
    // One that is gone has expired: no heartbeat.
    const isSame = beat === null || beat === before;
    const isUnbroken = at !== undefined && elapsedMs(at) < timeoutMs / 3;
    if (!isSame || !isUnbroken) this.#since = performance.now();
    this.#last = { beat: beat ?? before, sentAt, at: presentMoment() };
    if (!wasSilent && this.isSilentSince(this.#since)) this.keepFor(this.#parts.leaseMs);
    let nextMs = this.watchers.size === 0 ? timeoutMs / 4 : timeoutMs / 8;
    for (const { since, onSilence } of [...this.watchers]) {
      const leftMs = this.#leftMs(since, sentAt);
      if (leftMs > 0) nextMs = Math.min(nextMs, leftMs);
      else onSilence();
    }
    return nextMs;
  }

  #leftMs(since: number, sentAt: number): number {
    return Math.max(since, this.#since) + this.#node.timeoutMs - sentAt;
  }
}
