import type { JsonValue, Message, Revision } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import type { CallRecord } from "@holdfast/core/store-kit";
import type { CallText } from "./chain.js";
import { encodeInfoTail } from "./info-tail.js";
import { encodeLine } from "./record-line.js";

/** Ids of a document's owner; stored with it and compared when it is read. */
export type DocumentIds = readonly (string | null)[];

interface AnyRecord {
  /** The revision this record follows; it counts only if that is still the current one when its turn comes. */
  readonly prev: Revision | null;
  /** Idempotency key: repeated saves are recognised by it. */
  readonly op: string;
  /** ISO 8601. */
  readonly at: string;
}

/** Record of a call that a save remembers. */
export interface CallEntry {
  /** Records to keep, the newest ones. */
  readonly keep: number;
  /** Size of `record` as JSON. */
  readonly bytes: number;
  readonly record: CallRecord;
}

/** A save: what changed since `prev`. */
export interface SaveRecord extends AnyRecord {
  readonly kind: "save";
  readonly rev: Revision;
  /** Present on the first save of a document. */
  readonly ids?: DocumentIds | undefined;
  /** Bytes of the messages in it; keeps the size of the whole known without reading it. */
  readonly messageBytes: number;
  readonly keep: number;
  readonly set: { readonly [key: string]: JsonValue };
  readonly unset: readonly string[];
  readonly replace: readonly (readonly [index: number, message: Message])[];
  readonly append: readonly Message[];
  readonly call?: CallEntry | undefined;
  /** Facts for listings as JSON, as of this save: written with every save, so that the last record holds them. */
  readonly info?: string | undefined;
}

/** Ends a generation: `seal` carries the document over to the next one, `delete` leaves nothing to carry. */
export interface EndRecord extends AnyRecord {
  readonly kind: "seal" | "delete";
}

/** One line of a journal. */
export type JournalRecord = SaveRecord | EndRecord;

/** A save's parts as JSON text: serialised once, for the size check and the record alike. */
export interface SaveTexts {
  readonly set: readonly (readonly [key: string, json: string])[];
  readonly replace: readonly (readonly [index: number, json: string])[];
  readonly append: readonly string[];
  readonly call?: (Omit<CallEntry, "record"> & CallText) | undefined;
  readonly info?: string | undefined;
}

/**
 * Encodes a save. The short fields come first, for people who read the file; the facts for listings come last, where they are
 * found without reading the rest.
 *
 * @param from - size of the journal at which the record is meant to begin
 */
export function encodeSave(
  record: Omit<SaveRecord, "kind" | keyof SaveTexts>,
  texts: SaveTexts,
  from: number,
): Buffer {
  const { prev, rev, op, at, ids, messageBytes, keep, unset } = record;
  const fields = [
    JSON.stringify({ kind: "save", ids, prev, rev, op, at, messageBytes, keep }).slice(1, -1),
  ];
  if (unset.length > 0) fields.push(`"unset":${JSON.stringify(unset)}`);
  if (texts.call !== undefined) {
    const { keep, bytes, json } = texts.call;
    fields.push(`"call":{"keep":${keep},"bytes":${bytes},"record":${json}}`);
  }
  if (texts.set.length > 0)
    fields.push(`"set":{${texts.set.map(([k, json]) => `${JSON.stringify(k)}:${json}`).join()}}`);
  if (texts.replace.length > 0)
    fields.push(`"replace":[${texts.replace.map(([i, json]) => `[${i},${json}]`).join()}]`);
  if (texts.append.length > 0) fields.push(`"append":[${texts.append.join()}]`);
  if (texts.info !== undefined) fields.push(encodeInfoTail(texts.info, from));
  return encodeLine(fields.join());
}

/** Encodes the record that ends a generation. */
export function encodeEnd({ kind, prev, op, at }: EndRecord): Buffer {
  return encodeLine(JSON.stringify({ kind, prev, op, at }).slice(1, -1));
}

/** Decodes a whole line; `too_new` for a kind that only a newer release knows, null for anything else. */
export function decodeRecord(line: Buffer): JournalRecord | "too_new" | null {
  let value: unknown;
  try {
    value = JSON.parse(line.toString("utf8"));
  } catch {
    return null;
  }
  if (!isRecord(value)) return null;
  const { kind, prev, op, at } = value;
  if (prev !== null && typeof prev !== "string") return null;
  if (typeof op !== "string" || typeof at !== "string") return null;
  if (kind === "seal" || kind === "delete") return { kind, prev, op, at };
  if (kind === "save") return saveIn(value, { prev, op, at });
  return typeof kind === "string" ? "too_new" : null;
}

function saveIn(value: Record<string, unknown>, { prev, op, at }: AnyRecord): SaveRecord | null {
  const { rev, keep, messageBytes, ids, call, info } = value;
  const set = value["set"] ?? {};
  const unset = value["unset"] ?? [];
  const replace = value["replace"] ?? [];
  const append = value["append"] ?? [];
  if (typeof rev !== "string" || typeof keep !== "number" || typeof messageBytes !== "number")
    return null;
  if (ids !== undefined && !Array.isArray(ids)) return null;
  if (!isRecord(set) || !Array.isArray(unset)) return null;
  if (!Array.isArray(replace) || !Array.isArray(append)) return null;
  if (call !== undefined && !isCallEntry(call)) return null;
  return {
    kind: "save",
    prev,
    rev,
    op,
    at,
    ids,
    messageBytes,
    keep,
    set: set as SaveRecord["set"],
    unset,
    replace,
    append,
    call,
    info: info === undefined ? undefined : JSON.stringify(info),
  };
}

function isCallEntry(value: unknown): value is CallEntry {
  if (!isRecord(value) || typeof value["keep"] !== "number") return false;
  return typeof value["bytes"] === "number" && isCallRecord(value["record"]);
}

/** Tells whether this is the record of a call, as far as a store looks into it. */
export function isCallRecord(value: unknown): value is CallRecord {
  return isRecord(value) && typeof value["callId"] === "string";
}
