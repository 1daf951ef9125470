import { type Message, type Slot, StateCorruptError } from "@holdfast/core";
import { describeSlot, type LoadedState } from "@holdfast/core/store-kit";
import { type PortableRecord, portableDraft } from "./portable-record.js";
import type { SessionSummary } from "./session-digest.js";
import type { SessionHeader, SessionLine } from "./session-line.js";

/** The lines of a session behind its header; to be asked for in their order: state, records, end. */
export class SessionBody {
  readonly #lines: AsyncIterator<SessionLine>;
  readonly #slot: Slot;
  #line: SessionLine | undefined;

  constructor(lines: AsyncIterator<SessionLine>, slot: Slot) {
    this.#lines = lines;
    this.#slot = slot;
  }

  /** The state; null for a session without one. @throws StateCorruptError */
  async state({ revision, head }: SessionHeader): Promise<LoadedState | null> {
    const messages: Message[] = [];
    for (await this.#advance(); this.#line?.type === "message"; await this.#advance())
      messages.push(this.#line.message);
    return revision === null || head === null ? null : { revision, head, messages };
  }

  /** @throws StateCorruptError when the lines end before the session does */
  async *records(): AsyncGenerator<PortableRecord, void, void> {
    for (; this.#line?.type === "record"; await this.#advance())
      yield portableDraft(this.#line.record);
  }

  /** Compares what came with what the end says. @throws StateCorruptError */
  checkEnd({ sha256, messages, records }: SessionSummary): void {
    const end = this.#line;
    if (end?.type !== "end") throw this.#damaged(`a ${end?.type} stands where its end should be`);
    if (end.counts.messages !== messages || end.counts.records !== records)
      throw this.#damaged(
        `it should have ${end.counts.messages} messages and ${end.counts.records} records, and has ${messages} and ${records}`,
      );
    if (end.sha256 !== sha256) throw this.#damaged("its hash is another");
  }

  /** Skips to the end of the session, for whoever goes on with the next one. */
  async skip(): Promise<void> {
    while (this.#line?.type !== "end") {
      if (this.#line?.type === "session") throw this.#damaged("its end is missing");
      await this.#advance();
    }
  }

  async #advance(): Promise<void> {
    const next = await this.#lines.next();
    if (next.done) throw this.#damaged("its end is missing");
    this.#line = next.value;
  }

  #damaged(problem: string): StateCorruptError {
    return new StateCorruptError(
      `${describeSlot(this.#slot)} was not written: ${problem}; the lines are damaged or were cut short`,
    );
  }
}
