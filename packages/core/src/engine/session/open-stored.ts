import { HoldfastError } from "../../errors/holdfast-error.js";
import { StateConflictError } from "../../errors/store-errors.js";
import { messageBytes } from "../../message/read-message.js";
import type { LoadAnswer, LoadedState } from "../../ports/agent-state-store.js";
import { describeSlot, type Slot, slotText } from "../../slot/slot.js";
import { LiveState } from "../../state/live-state.js";
import { isWhole, loadWhole } from "../../store-kit/load-whole.js";
import { isRolledBack, revisionSeq } from "../../store-kit/revision.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import {
  type HeldSlot,
  type OpenedState,
  OpenSession,
  type TakeoverOptions,
} from "./open-session.js";
import type { CachedState, KnownState } from "./state-cache.js";
import { stateOf } from "./stored-state.js";
import { tidySession } from "./tidy-session.js";

/** Settings of opening what a store returned. */
export interface OpeningOptions extends TakeoverOptions {
  /** Reads a damaged state as far as it goes, instead of failing. */
  readonly salvage?: boolean | undefined;
  /** Goes on with what a store holds that was rolled back, whatever `onStoreRolledBack` says. */
  readonly acceptsRollback?: boolean | undefined;
}

/** Brings the cached state up to what is stored; null when the answer does not tell how, and the whole has to be loaded. */
function advance(
  { seal }: AgentParts,
  slot: Slot,
  cached: CachedState,
  answer: LoadAnswer,
): { readonly opened: OpenedState; readonly bytes: number } | null {
  if (typeof answer !== "object" || answer === null || isWhole(answer)) return null;
  if (answer.from !== cached.revision) return null;
  try {
    seal?.check(slot, answer.head);
    const state = cached.state.advanced(answer);
    const changed = [...answer.replace.map(([, message]) => message), ...answer.append];
    const bytes = changed.reduce((sum, message) => sum + messageBytes(message), headBytes(state));
    return { opened: { state, revision: answer.revision }, bytes };
  } catch (error) {
    // The whole state tells what is wrong with it.
    if (HoldfastError.is(error)) return null;
    throw error;
  }
}

/** Bytes of a state that was read whole. */
function stateBytes({ state }: OpenedState): number {
  return headBytes(state) + state.contextBytes();
}

function headBytes(state: LiveState): number {
  return Buffer.byteLength(JSON.stringify(state.head()));
}

/**
 * Reports a store that has lost acknowledged saves, as far as it or this process can tell.
 *
 * @param conflict - conflict of a save by which it was noticed
 * @returns true when other calls are refused until this one accepts by a save what is stored
 * @throws StateConflictError when such a session is refused
 */
export function reportRollback(
  { settings }: AgentParts,
  held: Pick<HeldSlot, "slot" | "run" | "dropped">,
  state: KnownState,
  found: LoadedState | null,
  entry: Pick<OpeningOptions, "emit" | "acceptsRollback">,
  conflict?: StateConflictError,
): boolean {
  const { revision: known } = state;
  const stored = found?.revision ?? "0.none";
  if (!found?.rolledBack && !isRolledBack(known, stored)) return false;
  entry.emit({ type: "store_rolled_back", known, stored });
  if (settings.onStoreRolledBack !== "refuse" || !found || !isEarlier(found, state)) return false;
  if (entry.acceptsRollback) return true;
  held.dropped.push(held.run.runId);
  throw new StateConflictError(
    `${describeSlot(held.slot)} was refused: its store has lost acknowledged saves, it holds revision ${revisionSeq(stored)} of another history, and this process saw revision ${revisionSeq(known)} saved. Restore the store, or accept what it holds with updateAgentState(…, () => {}), or remove the session with deleteSession`,
    { storedRevision: stored, cause: conflict },
  );
}

/**
 * Tells whether what is stored comes from before what was known, rather than from after a deletion: a session begun anew has
 * another first message, and none that is older than the last one known. A compaction replaces the first one.
 */
function isEarlier(found: LoadedState, { firstId, lastAt }: KnownState): boolean {
  return found.messages.some(
    ({ id, createdAt }) => id === firstId || Date.parse(createdAt) < lastAt,
  );
}

/** Answer of a store to a load, and what was known when it was asked for. */
interface Answered {
  readonly answer: LoadAnswer;
  readonly known: KnownState | undefined;
}

/** Called with what was opened: where it came from, and how much of it was read. */
type OnOpen = (
  opened: OpenedState,
  source: "store" | "delta" | "cache" | "new",
  bytes: number,
) => void;

/**
 * Opens the session from what the store answered, on top of the cached state if it can be.
 *
 * @throws StateConflictError when the store has lost acknowledged saves, and such sessions are refused
 */
export function openAnswer(
  parts: AgentParts,
  held: HeldSlot,
  { answer, known }: Answered,
  entry: OpeningOptions,
  onOpen: OnOpen,
): OpenSession | Promise<OpenSession> {
  const { slot } = held;
  const key = slotText(slot);
  const cached = parts.cache.peek(key);
  if (cached && cached.revision === known?.revision) {
    if (answer === "unchanged") {
      parts.cache.lend(key, cached);
      onOpen(cached, "cache", 0);
      return new OpenSession(held, cached);
    }
    const advanced = advance(parts, slot, cached, answer);
    if (advanced) {
      parts.cache.lend(key, advanced.opened);
      onOpen(advanced.opened, "delta", advanced.bytes);
      return tidySession(parts, new OpenSession(held, advanced.opened), entry);
    }
  }
  const open = (found: LoadedState | null) =>
    openFound(parts, held, { found, known }, entry, onOpen);
  if (answer === null || isWhole(answer)) return open(answer);
  return loadWhole(parts.stateStore, slot).then(open);
}

/** Opens the session from a whole state, or from nothing. Throws as {@link openAnswer}. */
export function openFound(
  parts: AgentParts,
  held: HeldSlot,
  { found, known }: { readonly found: LoadedState | null; readonly known: KnownState | undefined },
  entry: OpeningOptions,
  onOpen: OnOpen = () => undefined,
): OpenSession {
  const { slot } = held;
  const isAccepting = known !== undefined && reportRollback(parts, held, known, found, entry);
  const opened: OpenedState = found
    ? { state: readState(parts, held, found, entry.salvage), revision: found.revision }
    : { state: LiveState.create(slot), revision: null };
  if (!isAccepting) parts.cache.lend(slotText(slot), opened);
  onOpen(opened, found ? "store" : "new", found ? stateBytes(opened) : 0);
  const session = new OpenSession(held, opened);
  return found ? tidySession(parts, session, entry) : session;
}

/** Puts the state back into the cache, after a visit that neither saved nor changed it: it is still what is stored. */
export function putBack({ cache }: AgentParts, session: OpenSession): void {
  const { slot, state, revision, loaded } = session;
  const key = slotText(slot);
  if (revision === null || cache.known(key)?.revision !== revision || !isAsLoaded(session)) return;
  const head = JSON.stringify(loaded.head);
  cache.put(key, state.successor(head), revision, head.length);
}

/** Tells whether a state is what it was when it was loaded; costs its head, so it is for visits that saved nothing. */
function isAsLoaded({ state, loaded, revision, startedFrom }: OpenSession): boolean {
  if (revision !== startedFrom) return false;
  const { length } = state.messages;
  const { keep, replace } = state.contextDelta();
  const isSameContext = length === loaded.messages && keep === length && replace.length === 0;
  // What was pushed and removed again would be logged by the next call.
  if (!isSameContext || state.takePushed().length > 0) return false;
  if (state.listedTitle !== loaded.listedTitle) return false;
  try {
    return JSON.stringify(state.head()) === JSON.stringify(loaded.head);
  } catch {
    // It holds something that cannot be stored.
    return false;
  }
}

/** A call on a session that cannot be read is refused, and leaves nothing behind. */
function readState(
  { seal }: AgentParts,
  held: HeldSlot,
  found: LoadedState,
  salvage: boolean | undefined,
): LiveState {
  try {
    if (!salvage) seal?.check(held.slot, found.head);
    return stateOf(held.slot, found, salvage);
  } catch (error) {
    held.dropped.push(held.run.runId);
    throw error;
  }
}
