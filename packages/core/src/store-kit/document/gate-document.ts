import { isRecord } from "../../json/json.js";
import type { EnterAnswer, EnterTerms, SeenClaim } from "../lease/lease-backend.js";
import type { DocumentChange } from "./shared-documents.js";

/** Claim on a slot, or a listener outside its queue. */
export interface GateEntry {
  readonly token: string;
  readonly callId: string;
  /**
   * Another number with every renewal: an entry that stands still for a whole lease has expired. A claim that lost its place and
   * came again has another one than before, too, so that what was found out about it then is not taken for news.
   */
  readonly beat: number;
  /** Its process passes signals on to the call. */
  readonly listens: boolean;
}

/** Signal that was left for an entry. */
export interface GateSignal {
  readonly id: string;
  /** Token of the entry. */
  readonly to: string;
  /** The signal as JSON. */
  readonly text: string;
}

/** Stored form of the gate of one slot. */
export interface GateDocument {
  readonly v: 1;
  /** The holder, then the queue in order. */
  readonly claims: readonly GateEntry[];
  readonly listeners: readonly GateEntry[];
  readonly signals: readonly GateSignal[];
}

/** Most signals kept for one call: one that did not stop after so many will not after one more. */
const MAX_SIGNALS = 100;

const emptyGate: GateDocument = { v: 1, claims: [], listeners: [], signals: [] };

/** Tells whether a stored value has the form of a gate. */
export function isGateDocument({ claims, listeners, signals }: Record<string, unknown>): boolean {
  return (
    isListOf(claims, isEntry) &&
    isListOf(listeners, isEntry) &&
    isListOf(signals, ({ id, to, text }) => areTexts(id, to, text))
  );
}

/** Claim that enters, and the facts on which it is decided. */
export interface Entering extends GateEntry {
  readonly terms: Pick<EnterTerms, "mode" | "maxQueue" | "replaces">;
  /** Tells whether an entry has expired. */
  readonly isStale: (entry: GateEntry) => boolean;
}

/** Lets a claim take the slot or a place in the queue; entries that have expired go. */
export function enterGate(
  stored: GateDocument | null,
  { terms, isStale, ...claim }: Entering,
): DocumentChange<GateDocument, Exclude<EnterAnswer, { kind: "wait" }> | GateWait> {
  const counts = (entry: GateEntry): boolean => entry.token === claim.token || !isStale(entry);
  const { claims, listeners, signals } = stored ?? emptyGate;
  const live = withoutReplaced(claims.filter(counts), claim.token, terms.replaces);
  const place = live.findIndex(({ token }) => token === claim.token);
  const waiting = Math.max(live.length - 1, 0);
  const isFull = terms.mode === "refuse" || (terms.mode === "queue" && waiting >= terms.maxQueue);
  const last = live.at(-1);
  if (place < 0 && last !== undefined && isFull)
    return { result: { kind: "busy", waiting, before: seenClaim(last) } };
  const ahead = place < 0 ? live.length : place;
  const next = tidied({
    v: 1,
    claims: [...live.slice(0, ahead), claim, ...live.slice(ahead + 1)],
    listeners: listeners.filter(counts),
    signals,
  });
  const before = live[ahead - 1];
  if (before === undefined) return { next, result: { kind: "granted" } };
  return { next, result: { kind: "wait", ahead, before: seenClaim(before) } };
}

/** Returns the claim of an entry as those behind it see it. */
export function seenClaim({ token, beat }: GateEntry): SeenClaim {
  return { token, version: String(beat) };
}

/** Answer to a claim that has to wait, without the time. */
export type GateWait = Omit<Extract<EnterAnswer, { kind: "wait" }>, "dueMs">;

/**
 * The claim just before `token`, which is the last one for a claim that is not in the queue, gives way when it is the replaced
 * one and was not renewed since.
 */
function withoutReplaced(
  claims: readonly GateEntry[],
  token: string,
  replaces: SeenClaim | undefined,
): readonly GateEntry[] {
  const place = claims.findIndex((claim) => claim.token === token);
  const before = place < 0 ? claims.at(-1) : claims[place - 1];
  if (before === undefined || before.token !== replaces?.token) return claims;
  return String(before.beat) === replaces.version
    ? claims.filter((claim) => claim !== before)
    : claims;
}

/** Renews the claim that holds the slot; the result is `false` when another one does, or none. */
export function renewClaim(
  stored: GateDocument | null,
  { token, beat }: Pick<GateEntry, "token" | "beat">,
): DocumentChange<GateDocument, boolean> {
  const [holder, ...queue] = stored?.claims ?? [];
  if (stored === null || holder?.token !== token) return { result: false };
  const renewed = { ...holder, beat };
  return { next: { ...stored, claims: [renewed, ...queue] }, result: true };
}

/** Removes an entry and the signals left for it. */
export function leaveGate(
  stored: GateDocument | null,
  token: string,
): DocumentChange<GateDocument, void> {
  if (stored === null) return { result: undefined };
  const { claims, listeners } = stored;
  const others = (entry: GateEntry): boolean => entry.token !== token;
  if (claims.every(others) && listeners.every(others)) return { result: undefined };
  const next = { ...stored, claims: claims.filter(others), listeners: listeners.filter(others) };
  return { next: tidied(next), result: undefined };
}

/** Registers a listener outside the queue, or renews it. */
export function keepListener(
  stored: GateDocument | null,
  listener: Omit<GateEntry, "listens">,
): DocumentChange<GateDocument, void> {
  const { listeners, ...gate } = stored ?? emptyGate;
  const renewed = { ...listener, listens: true };
  const others = listeners.filter(({ token }) => token !== listener.token);
  return { next: { ...gate, listeners: [...others, renewed] }, result: undefined };
}

/** Leaves a signal for every listening entry of a call; the result tells whether there was one. */
export function leaveSignal(
  stored: GateDocument | null,
  callId: string,
  { id, text }: Pick<GateSignal, "id" | "text">,
): DocumentChange<GateDocument, boolean> {
  if (stored === null) return { result: false };
  const { claims, listeners, signals } = stored;
  const reached = [...claims, ...listeners].filter(
    (each) => each.listens && each.callId === callId,
  );
  const countOf = (token: string): number => signals.filter(({ to }) => to === token).length;
  const left = reached
    .filter(({ token }) => countOf(token) < MAX_SIGNALS)
    .map(({ token }) => ({ id, to: token, text }));
  if (left.length === 0) return { result: reached.length > 0 };
  return { next: { ...stored, signals: [...signals, ...left] }, result: true };
}

/** Drops the signals whose entry is gone. */
function tidied(gate: GateDocument): GateDocument {
  const tokens = new Set([...gate.claims, ...gate.listeners].map(({ token }) => token));
  return { ...gate, signals: gate.signals.filter(({ to }) => tokens.has(to)) };
}

function isEntry({ token, callId, beat, listens }: Record<string, unknown>): boolean {
  return areTexts(token, callId) && Number.isInteger(beat) && typeof listens === "boolean";
}

function isListOf(value: unknown, isOne: (item: Record<string, unknown>) => boolean): boolean {
  return Array.isArray(value) && value.every((item) => isRecord(item) && isOne(item));
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === "string");
}
