import {
  type DistributedStore,
  InvalidInputError,
  type Message,
  type Slot,
  StateConflictError,
  StateCorruptError,
} from "@holdfast/core";
import { describeSlot, type LoadedState } from "@holdfast/core/store-kit";
import { type PortableRecord, portableDraft } from "./log-records.js";
import { SessionDigest, type SessionSummary } from "./session-digest.js";
import type { SessionHeader, SessionLine } from "./session-line.js";
import { SessionTarget } from "./session-target.js";
import { storedSummary } from "./stored-summary.js";
import { type CheckedLease, underLease } from "./under-lease.js";

/** Options of {@link writeSession}. */
export interface WriteSessionOptions {
  /** Time to wait for a session in use. @default 30_000 */
  readonly waitMs?: number | undefined;
}

/** Session that is in the store now. */
export interface WrittenSession {
  readonly slot: Slot;
  /** `present` when all of it was there already. */
  readonly outcome: "written" | "present";
  readonly summary: SessionSummary;
}

/**
 * Writes the next session of some lines into a store, under its lease and with its original revision; null when there are
 * no more.
 *
 * The state is saved last, when the whole log is stored and the lines match their counts and hash. A session of the
 * store's own is never overwritten; an older copy is updated. After a `StateConflictError` the rest of the session's lines
 * is consumed, so that the caller can continue with the next session.
 *
 * @param lines - of one or several sessions
 * @throws InvalidInputError for lines that are not a session
 * @throws StateConflictError when the store has a different session of that name
 * @throws StateCorruptError when lines are missing or changed, or the session is read back differently
 * @throws SessionBusyError | StoreError
 */
export async function writeSession(
  parts: DistributedStore,
  lines: AsyncIterator<SessionLine>,
  { waitMs = 30_000 }: WriteSessionOptions = {},
): Promise<WrittenSession | null> {
  const { value: header, done } = await lines.next();
  if (done) return null;
  if (header.type !== "session")
    throw new InvalidInputError(
      `a session begins with a session line, not with a ${header.type} line`,
    );
  return underLease(parts, header.slot, { waitMs, holder: "import" }, (lease) =>
    write(parts, header, new SessionBody(lines, header.slot), lease),
  );
}

async function write(
  parts: DistributedStore,
  header: SessionHeader,
  body: SessionBody,
  lease: CheckedLease,
): Promise<WrittenSession> {
  const { slot } = header;
  const target = new SessionTarget(parts, slot, lease);
  const digest = new SessionDigest();
  try {
    const wanted = await body.state(header);
    const verdict = await target.align(wanted, body.records(), digest);
    if (verdict.kind === "conflict" || verdict.kind === "damaged") {
      await body.skip();
      throw new StateConflictError(
        `${describeSlot(slot)} was not written: the store has another session of that name (${verdict.reason}); delete that one first if it is not needed`,
      );
    }
    const summary = digest.summary();
    if (verdict.kind === "ahead") await body.skip();
    else body.checkEnd(summary);
    if (verdict.kind !== "behind") return { slot, outcome: "present", summary };
    await target.save(wanted);
    await readBack(parts, slot, target.stored, summary);
    return { slot, outcome: "written", summary };
  } catch (error) {
    await target.discard().catch(() => undefined);
    throw error;
  }
}

async function readBack(
  parts: DistributedStore,
  slot: Slot,
  stored: LoadedState | null,
  { sha256 }: SessionSummary,
): Promise<void> {
  const found = await storedSummary(parts, slot, stored);
  if (found.sha256 === sha256) return;
  throw new StateCorruptError(
    `${describeSlot(slot)} was written, and the store gives back something else; see to the store and write it again`,
  );
}

/** Reads the lines of a session after its header, in order: state, records, end. */
class SessionBody {
  readonly #lines: AsyncIterator<SessionLine>;
  readonly #slot: Slot;
  #line: SessionLine | undefined;

  constructor(lines: AsyncIterator<SessionLine>, slot: Slot) {
    this.#lines = lines;
    this.#slot = slot;
  }

  /** Reads the state; null for a session without one. @throws StateCorruptError */
  async state(header: SessionHeader): Promise<LoadedState | null> {
    const { revision, head, callRecords, info } = header;
    const messages: Message[] = [];
    for (await this.#advance(); this.#line?.type === "message"; await this.#advance())
      messages.push(this.#line.message);
    if (revision === null || head === null) return null;
    return { revision, head, messages, callRecords, info };
  }

  /** @throws StateCorruptError when the lines end before the session does */
  async *records(): AsyncGenerator<PortableRecord, void, void> {
    for (; this.#line?.type === "record"; await this.#advance())
      yield portableDraft(this.#line.record);
  }

  /** Compares the lines with the counts and hash of the end. @throws StateCorruptError */
  checkEnd({ sha256, messages, records }: SessionSummary): void {
    const end = this.#line;
    if (end?.type !== "end") throw this.#damaged(`a ${end?.type} stands where its end should be`);
    if (end.counts.messages !== messages || end.counts.records !== records)
      throw this.#damaged(
        `it should have ${end.counts.messages} messages and ${end.counts.records} records, and has ${messages} and ${records}`,
      );
    if (end.sha256 !== sha256) throw this.#damaged("its hash is another");
  }

  /** Skips to the end of the session. */
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
