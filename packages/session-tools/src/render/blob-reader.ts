import { createHash } from "node:crypto";
import { type ConversationLog, type Slot, StateCorruptError } from "@holdfast/core";
import { cutIndex, type YieldingClock } from "@holdfast/core/plugin-kit";
import { describeSlot } from "@holdfast/core/store-kit";

/** Characters that are hashed before other work may run. */
const HASH_CHARS = 262_144;

/** Reads the blobs of a session, and holds no more than one of them. */
export class BlobReader {
  readonly #log: Pick<ConversationLog, "readBlob">;
  readonly #slot: Slot;
  readonly clock: YieldingClock;
  #last: { readonly ref: string; readonly text: string } | undefined;

  constructor(log: Pick<ConversationLog, "readBlob">, slot: Slot, clock: YieldingClock) {
    this.#log = log;
    this.#slot = slot;
    this.clock = clock;
  }

  /** Returns the text of a blob. @throws StateCorruptError when it is missing or does not match its hash */
  async read(ref: string): Promise<string> {
    if (this.#last?.ref === ref) return this.#last.text;
    this.#last = undefined;
    const text = await this.#log.readBlob(this.#slot, ref);
    if (text === null) throw this.#corrupt(`${ref} is missing`);
    if ((await this.#refOf(text)) !== ref) throw this.#corrupt(`${ref} holds something else`);
    this.#last = { ref, text };
    return text;
  }

  /** Computes core's `blobRef`, yielding to other work: a long text takes a while. */
  async #refOf(text: string): Promise<string> {
    const hash = createHash("sha256");
    for (let start = 0; start < text.length; ) {
      const end = cutIndex(text, start + HASH_CHARS);
      hash.update(text.slice(start, end), "utf8");
      start = end;
      await this.clock.tick();
    }
    return `sha256:${hash.digest("hex")}`;
  }

  #corrupt(problem: string): StateCorruptError {
    return new StateCorruptError(
      `a long text of ${describeSlot(this.#slot)} cannot be read: ${problem}`,
    );
  }
}
