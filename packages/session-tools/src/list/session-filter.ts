import {
  type AgentStateStore,
  InvalidInputError,
  type JsonObject,
  type SessionInfo,
} from "@holdfast/core";
import { foldText } from "@holdfast/core/plugin-kit/search";
import type { LogSession } from "@holdfast/core/store-kit";

/** Conditions on sessions. */
interface Filter {
  readonly text?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** A session with the row that is shown of it. */
interface ShownSession extends LogSession {
  readonly info: SessionInfo | undefined;
  readonly text: string;
}

/** Most pages of a listing that are looked at for the facts of a page of sessions. */
const MAX_PAGES = 5;

/**
 * Returns a predicate for sessions and their rows.
 *
 * @throws InvalidInputError for a time that is none
 */
export function sessionFilter(filter: Filter): (session: ShownSession) => boolean {
  const since = timeOf(filter.since) ?? Number.NEGATIVE_INFINITY;
  const until = timeOf(filter.until) ?? Number.POSITIVE_INFINITY;
  const words = foldText(filter.text ?? "")
    .split(/\s+/)
    .filter((word) => word !== "");
  const wanted = Object.entries(filter.metadata ?? {});
  return ({ lastAt, info, text }) => {
    const at = Date.parse(lastAt);
    const row = foldText(text);
    const metadata: JsonObject = info?.metadata ?? {};
    return (
      !(at < since || at >= until) &&
      words.every((word) => row.includes(word)) &&
      wanted.every(([key, value]) => JSON.stringify(metadata[key]) === JSON.stringify(value))
    );
  };
}

/** Returns the facts that the store lists of sessions, as far as it lists them. */
export async function listedFacts(
  stateStore: Pick<AgentStateStore, "list">,
  owner: { readonly agentId: string; readonly userId: string },
  sessions: readonly LogSession[],
): Promise<ReadonlyMap<string, SessionInfo>> {
  const missing = new Set(sessions.map(({ slot }) => slot.sessionId));
  const facts = new Map<string, SessionInfo>();
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES && missing.size > 0; pages++) {
    const page = await stateStore.list({ ...owner, cursor });
    for (const { slot, info } of page.slots)
      if (missing.delete(slot.sessionId) && info !== undefined) facts.set(slot.sessionId, info);
    cursor = page.cursor;
    if (cursor === undefined) break;
  }
  return facts;
}

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidInputError(`${JSON.stringify(text)} is not a time`);
  return time;
}
