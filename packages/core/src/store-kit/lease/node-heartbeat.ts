import { randomBytes } from "node:crypto";
import type { NodeName } from "./claim-token.js";
import { Heartbeat } from "./heartbeat.js";
import type { NodeBeats } from "./lease-backend.js";
import { type Moment, presentMoment } from "./moment.js";

/** Pause after a heartbeat that failed. */
const RETRY_MS = 200;

/**
 * Heartbeats of this process, one for all its claims: three per `timeoutMs` while it has a claim that is older than a third of
 * that. Shorter claims cost nothing.
 */
export class NodeHeartbeat {
  readonly name: NodeName;
  readonly #nodes: NodeBeats;
  readonly #onBeat: (sentAt: Moment) => void;
  /** When each claim began, oldest first, on the clock of `performance.now()`. */
  readonly #claims = new Map<string, number>();
  #heartbeat: Heartbeat | undefined;
  #count = 0;

  /** @param onBeat - called when a heartbeat was acknowledged, with the moment at which it was sent */
  constructor(nodes: NodeBeats, onBeat: (sentAt: Moment) => void) {
    this.name = { id: randomBytes(12).toString("base64url"), timeoutMs: nodes.timeoutMs };
    this.#nodes = nodes;
    this.#onBeat = onBeat;
  }

  /** Begins to keep a claim. */
  add(token: string): void {
    this.#claims.set(token, performance.now());
    if (this.#heartbeat !== undefined) return;
    this.#heartbeat = new Heartbeat(() => this.#beatWhenDue());
    this.#heartbeat.schedule(this.#periodMs());
  }

  /** Ends to keep a claim; with the last one the heartbeats end. */
  remove(token: string): void {
    this.#claims.delete(token);
    if (this.#claims.size > 0) return;
    void this.#heartbeat?.stop();
    this.#heartbeat = undefined;
  }

  /** Sends a heartbeat. @throws StoreError */
  async beat(): Promise<void> {
    const sentAt = presentMoment();
    await this.#nodes.beat(this.name.id, ++this.#count, this.name.timeoutMs / 3);
    this.#onBeat(sentAt);
  }

  async #beatWhenDue(): Promise<number> {
    const [oldest = performance.now()] = this.#claims.values();
    const dueMs = this.#periodMs() - (performance.now() - oldest);
    if (dueMs > 0) return dueMs;
    return this.beat().then(
      () => this.#periodMs(),
      () => RETRY_MS,
    );
  }

  /** With jitter, so that nodes which were started together do not stay in step. */
  #periodMs(): number {
    return (this.name.timeoutMs / 3) * (0.8 + 0.2 * Math.random());
  }
}
