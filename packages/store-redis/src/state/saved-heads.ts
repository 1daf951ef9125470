import { hash } from "node:crypto";
import type { Revision } from "@holdfast/core";
import type { RedisReply } from "../connection/redis-connection.js";

/** Number of revisions whose head is remembered. */
const MAX_REMEMBERED = 1_000;

/**
 * Remembers the heads that this process saved or loaded last: most turns do not change it, and then it need not be sent.
 *
 * A revision names one state, so that a save based on it finds the head that was written with it.
 */
export class SavedHeads {
  /** Digests by revision, the latest last. */
  readonly #digests = new Map<Revision, string>();

  /** Tells that the state of this revision has this head; false when that is not known. */
  has(revision: Revision, head: string): boolean {
    const known = this.#digests.get(revision);
    return known !== undefined && known === digest(head);
  }

  /** Remembers the head in a reply of `load_state`, if it has one. */
  loaded(reply: RedisReply | undefined): void {
    const [kind, revision, head] = Array.isArray(reply) ? (reply as readonly RedisReply[]) : [];
    if ((kind === "state" || kind === "change") && typeof head === "string")
      this.saved(null, String(revision), head);
  }

  /** Remembers the head of a revision in place of the one before. */
  saved(before: Revision | null, revision: Revision, head: string): void {
    if (before !== null) this.#digests.delete(before);
    this.#digests.set(revision, digest(head));
    const [oldest] = this.#digests.keys();
    if (this.#digests.size > MAX_REMEMBERED && oldest !== undefined) this.#digests.delete(oldest);
  }
}

function digest(head: string): string {
  return hash("sha256", head, "base64");
}
