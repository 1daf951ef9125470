import { InvalidInputError } from "../../errors/errors.js";
import { StateTooLargeError } from "../../errors/store-errors.js";
import { isRecord, type JsonObject, toJsonValue } from "../../json/json.js";
import { cutText } from "../../plugin-kit/cut-text.js";
import type { SessionInfo, SlotInfo } from "../../ports/agent-state-store.js";
import type { AgentState } from "../../state/agent-state.js";
import { LiveState } from "../../state/live-state.js";
import { FORK_EXTENSION, type ForkOrigin } from "../../store-kit/log/fork-id.js";
import { MAX_EXTENSION_BYTES } from "../assemble/plugin-state.js";

/** Facts about a session that its owner gives. */
type SessionFacts = Pick<SessionInfo, "title" | "metadata">;

/** Changes of the facts about a session. */
export interface FactsChange {
  /** From 1 to 200 characters; `null` removes it. */
  readonly title?: string | null | undefined;
  /** Replaces the metadata of before; `null` removes it. */
  readonly metadata?: JsonObject | null | undefined;
}

/** Conditions on the facts and times of sessions. */
export interface SessionFilter {
  /** Values that the metadata must have; it may have others. */
  readonly metadata?: JsonObject | undefined;
  /** Earliest time of the last save, ISO 8601. */
  readonly since?: string | undefined;
  /** Time before which the last save was, ISO 8601. */
  readonly until?: string | undefined;
  /** Words that must be in the title or the id; case does not count. */
  readonly text?: string | undefined;
}

/** Most characters of a title, and of one that is the first words of a session. */
const MAX_TITLE_CHARS = 200;
const FIRST_WORDS_CHARS = 60;

/** Name under which the facts are kept among the extensions of a state. */
const EXTENSION = "holdfast.session";

/** Returns the facts that were set; those of another form, from an edit of the state, count as none. */
function storedFacts({ extensions }: AgentState): SessionFacts {
  const entry = Object.hasOwn(extensions, EXTENSION) ? extensions[EXTENSION] : undefined;
  const value = isRecord(entry) && isRecord(entry["value"]) ? entry["value"] : {};
  const { title, metadata } = value;
  return {
    ...(typeof title === "string" && { title }),
    ...(isRecord(metadata) && { metadata: metadata as JsonObject }),
  };
}

/** Returns title and metadata of a session; without a title, its first words, also when they have left the context. */
export function factsOf(state: LiveState): SessionFacts {
  const { title, metadata } = storedFacts(state);
  const shown = title ?? state.listedTitle ?? firstWords(state);
  state.listedTitle = shown;
  return { ...(shown !== undefined && { title: shown }), ...(metadata && { metadata }) };
}

/**
 * Changes title and metadata of a session.
 *
 * @throws InvalidInputError for a title or metadata of another form
 */
export function setFacts(state: AgentState, { title, metadata }: FactsChange): void {
  if (typeof title === "string" && (title.trim() === "" || title.length > MAX_TITLE_CHARS))
    throw new InvalidInputError(`a title must have from 1 to ${MAX_TITLE_CHARS} characters`);
  const isText = title === undefined || title === null || typeof title === "string";
  const isObject = typeof metadata === "object" && !Array.isArray(metadata);
  if (!isText || (metadata !== undefined && !isObject))
    throw new InvalidInputError(
      "setSession takes { title: string, metadata: object }; null removes one",
    );
  const facts: Record<string, unknown> = { ...storedFacts(state) };
  for (const [name, value] of Object.entries({ title, metadata }))
    if (value === null) delete facts[name];
    else if (value !== undefined) facts[name] = value;
  const value = toJsonValue(facts, "the metadata of a session");
  const bytes = Buffer.byteLength(JSON.stringify(value), "utf8");
  if (bytes > MAX_EXTENSION_BYTES)
    throw new StateTooLargeError(
      `the metadata of a session would take ${bytes} bytes; at most ${MAX_EXTENSION_BYTES} are kept`,
    );
  state.extensions[EXTENSION] = { version: 1, value };
  // Without a title of its own, a session is listed by its first words again.
  if (title === null && state instanceof LiveState) state.listedTitle = undefined;
}

/** Begins the title of a fork. */
const FORK_OF = "Fork of ";

/** Notes that a session is a fork, and marks the title that it is listed by. */
export function noteFork(state: LiveState, origin: ForkOrigin): void {
  const { title = JSON.stringify(origin.sessionId) } = factsOf(state);
  const marked = title.startsWith(FORK_OF) ? title : cutText(FORK_OF + title, MAX_TITLE_CHARS);
  setFacts(state, { title: marked });
  state.extensions[FORK_EXTENSION] = { version: 1, value: { ...origin } };
}

/** Returns the first line of the first message, if a person wrote it. */
function firstWords({ messages }: LiveState): string | undefined {
  const [first] = messages;
  if (first?.role !== "user") return undefined;
  const block = first.content.find(({ type }) => type === "text" || type === "hint");
  if (block?.type !== "text") return undefined;
  const [line = ""] = block.text.trim().split(/[\r\n\u2028\u2029]/, 1);
  return line === "" ? undefined : cutText(line, FIRST_WORDS_CHARS);
}

/**
 * Returns a predicate for listed sessions.
 *
 * @throws InvalidInputError for a time that is none
 */
export function matchFacts(filter: SessionFilter): (listed: SlotInfo) => boolean {
  const since = timeOf(filter.since, "since") ?? Number.NEGATIVE_INFINITY;
  const until = timeOf(filter.until, "until") ?? Number.POSITIVE_INFINITY;
  const words = (filter.text ?? "")
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const wanted = Object.entries(filter.metadata ?? {}).map(([key, value]) => [
    key,
    JSON.stringify(value),
  ]);
  return ({ slot, updatedAt, info }) => {
    const at = Date.parse(updatedAt);
    if (at < since || at >= until) return false;
    const text = `${slot.sessionId} ${info?.title ?? ""}`.toLowerCase();
    const metadata: JsonObject = info?.metadata ?? {};
    return (
      words.every((word) => text.includes(word)) &&
      wanted.every(
        ([key = "", value]) =>
          Object.hasOwn(metadata, key) && JSON.stringify(metadata[key]) === value,
      )
    );
  };
}

function timeOf(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidInputError(`${name} is not a time: use ISO 8601`);
  return time;
}
