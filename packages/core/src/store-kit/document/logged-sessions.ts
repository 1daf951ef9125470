import type { LogSessionPage, LogSessionQuery } from "../../ports/conversation-log.js";
import { hashKey, type Slot, slotText, userTag } from "../../slot/slot.js";
import { checkLimit, strangeCursor } from "../check-query.js";
import type { DocumentSource } from "../list-documents.js";
import { DEFAULT_LOG_LIMIT } from "../log/log-range.js";
import { SharedDocuments } from "./shared-documents.js";

/** Sessions of one user that have a log, most recently updated first. */
interface SessionsDocument {
  readonly v: 1;
  readonly sessions: readonly (readonly [sessionId: string, lastAt: string])[];
}

/** Time within which a session is not moved to the front again: `lastAt` is exact to a minute. */
const FRESH_MS = 60_000;

/** Sessions that a process remembers to have moved to the front. */
const MAX_RECENT = 10_000;

/**
 * Index of the sessions that have a log, one document per user. Anonymous sessions are not in it: they may belong to different
 * people, so they are neither listed nor searched together.
 */
export class LoggedSessions {
  readonly #documents: SharedDocuments<SessionsDocument>;
  readonly #clock: () => Date;
  /** Times at which this process moved sessions to the front, by the text of the slot, oldest first. */
  readonly #recent = new Map<string, number>();

  constructor(source: DocumentSource, clock: () => Date) {
    this.#clock = clock;
    this.#documents = new SharedDocuments<SessionsDocument>(source, {
      suffix: "-sessions",
      isDocument: ({ sessions }) => Array.isArray(sessions) && sessions.every(Array.isArray),
    });
  }

  /** Moves a session to the front, at most once a minute. @throws StoreError */
  async touch(slot: Slot): Promise<void> {
    if (slot.userId === null) return;
    const text = slotText(slot);
    const now = this.#clock();
    const last = this.#recent.get(text);
    if (last !== undefined && Math.abs(now.getTime() - last) < FRESH_MS) return;
    await this.#documents.update(sessionsName(slot), "listing a session with a log", (stored) => {
      const others = (stored?.sessions ?? []).filter(([sessionId]) => sessionId !== slot.sessionId);
      const entry = [slot.sessionId, now.toISOString()] as const;
      return { next: { v: 1, sessions: [entry, ...others] }, result: undefined };
    });
    this.#recent.delete(text);
    this.#recent.set(text, now.getTime());
    if (this.#recent.size > MAX_RECENT)
      for (const oldest of [...this.#recent.keys()].slice(0, MAX_RECENT / 2))
        this.#recent.delete(oldest);
  }

  /** Has the next {@link touch} of a session write: another process may have deleted its log. */
  forget(slot: Slot): void {
    this.#recent.delete(slotText(slot));
  }

  /** Removes a session. @throws StoreError */
  async remove(slot: Slot): Promise<void> {
    this.forget(slot);
    if (slot.userId === null) return;
    await this.#documents.update(sessionsName(slot), "unlisting a session", (stored) => {
      const before = stored?.sessions ?? [];
      const sessions = before.filter(([sessionId]) => sessionId !== slot.sessionId);
      const isSame = sessions.length === before.length;
      return { next: isSame ? undefined : { v: 1, sessions }, result: undefined };
    });
  }

  /** Returns the ids of a user's sessions, most recently updated first. @throws StoreError */
  async ids(user: { readonly agentId: string; readonly userId: string }): Promise<string[]> {
    const stored = await this.#documents.read(sessionsName(user), "reading a user's sessions");
    return (stored?.sessions ?? []).map(([sessionId]) => sessionId);
  }

  /** Returns one page of a user's sessions. @throws StoreError | InvalidInputError */
  async page({ agentId, userId, limit, cursor }: LogSessionQuery): Promise<LogSessionPage> {
    const count = checkLimit(limit, DEFAULT_LOG_LIMIT);
    const after = cursor === undefined ? undefined : readCursor(cursor);
    const stored = await this.#documents.read(
      sessionsName({ agentId, userId }),
      "listing sessions with a log",
    );
    const left = (stored?.sessions ?? []).filter(
      ([sessionId, lastAt]) => after === undefined || isBehind([lastAt, sessionId], after),
    );
    // By time, then by id: the order of entries of the same time must not depend on who moved them.
    left.sort(([a, atA], [b, atB]) => (isBehind([atA, a], [atB, b]) ? 1 : -1));
    const page = left.slice(0, count);
    const sessions = page.map(([sessionId, lastAt]) => ({
      slot: { agentId, userId, sessionId },
      lastAt,
    }));
    const [lastId, lastAt] = page.at(-1) ?? [];
    return left.length > count && lastId !== undefined && lastAt !== undefined
      ? { sessions, cursor: writeCursor([lastAt, lastId]) }
      : { sessions };
  }
}

type Position = readonly [lastAt: string, sessionId: string];

/** Later times first, then smaller ids first. */
function isBehind([at, id]: Position, [otherAt, otherId]: Position): boolean {
  return at === otherAt ? id > otherId : at < otherAt;
}

function sessionsName(user: { readonly agentId: string; readonly userId: string | null }): string {
  return hashKey(`${user.agentId.length}:${user.agentId}${userTag(user.userId)}`);
}

function writeCursor(position: Position): string {
  return Buffer.from(JSON.stringify(position), "utf8").toString("base64url");
}

function readCursor(text: string): Position {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (
      Array.isArray(value) &&
      value.length === 2 &&
      value.every((part) => typeof part === "string")
    )
      return value as unknown as Position;
  } catch {
    // Refused below.
  }
  throw strangeCursor("log");
}
