import {
  type DistributedStore,
  InvalidInputError,
  type Slot,
  StateConflictError,
  StateCorruptError,
} from "@holdfast/core";
import { describeSlot, type LoadedState } from "@holdfast/core/store-kit";
import { SessionBody } from "./session-body.js";
import { SessionDigest, type SessionSummary } from "./session-digest.js";
import type { SessionHeader, SessionLine } from "./session-line.js";
import { SessionPlace } from "./session-place.js";
import { storedSummary } from "./stored-summary.js";
import { type HeldLease, underLease } from "./under-lease.js";

/** How {@link writeSession} writes. */
export interface WriteSessionOptions {
  /** How long to wait for a session that is in use. @default 30_000 */
  readonly waitMs?: number | undefined;
}

/** A session that is in the store now. */
export interface WrittenSession {
  readonly slot: Slot;
  /** `present`: all of it was there already. */
  readonly outcome: "written" | "present";
  readonly summary: SessionSummary;
}

/**
 * Puts the next session of some lines into a store, under its lease and with the revision it had; null when there is no
 * further one.
 *
 * The state appears at the end, when the whole log is there and the lines add up to what their end says. What the store
 * has of its own is never overwritten; an older copy is brought up to date. After a `StateConflictError` the lines stand
 * behind the session, so that whoever likes goes on with the next.
 *
 * @param lines - of one session or of several
 * @throws InvalidInputError for lines that are no session
 * @throws StateConflictError when the store has another session of that name
 * @throws StateCorruptError when lines are missing or changed, or what is read back is not what was written
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
    throw new InvalidInputError(`a session begins with its header, not with a ${header.type}`);
  return underLease(parts, header.slot, { waitMs, holder: "import" }, (lease) =>
    write(parts, header, new SessionBody(lines, header.slot), lease),
  );
}

async function write(
  parts: DistributedStore,
  header: SessionHeader,
  body: SessionBody,
  lease: HeldLease,
): Promise<WrittenSession> {
  const { slot } = header;
  const place = new SessionPlace(parts, slot, lease);
  const digest = new SessionDigest();
  try {
    const wanted = await body.state(header);
    const verdict = await place.align(wanted, body.records(), digest);
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
    await place.save(wanted);
    await readBack(parts, slot, place.stored, summary);
    return { slot, outcome: "written", summary };
  } catch (error) {
    await place.takeBack().catch(() => undefined);
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
