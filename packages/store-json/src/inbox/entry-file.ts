import { createHash } from "node:crypto";
import { isRecord } from "@holdfast/core/plugin-kit";
import type { InboxEntry } from "@holdfast/core/store-kit";
import type { DocumentIds } from "../document/record.js";
import { encodeLine, lineKind } from "../document/record-line.js";

/**
 * Name of an inbox entry's file: `inbox.<order>.<kind>.<bytes>.<hash>.json`, beside the files of the session's state.
 *
 * It tells all that puts, removals and listings need, so that only reading the inbox opens the file.
 */
export interface EntryFile {
  readonly name: string;
  /** Higher than that of every entry that was there when this one was put. */
  readonly order: number;
  readonly kind: string;
  /** Size of the entry as JSON. */
  readonly bytes: number;
  /** Stands for the entry's id. */
  readonly hash: string;
}

const NAME = /^inbox\.([1-9][0-9]{0,14})\.([a-z_]{1,32})\.([1-9][0-9]{0,9})\.([0-9a-f]{32})\.json$/;
const DAMAGED = "damaged.";

/** Returns the name of an entry's file. */
export function entryName({ order, kind, bytes, hash }: Omit<EntryFile, "name">): string {
  return `inbox.${order}.${kind}.${bytes}.${hash}.json`;
}

/** Name under which a damaged entry is set aside. */
export function damagedName(name: string): string {
  return DAMAGED + name;
}

/** Returns the entries' files among the names in a session's directory, oldest first. */
export function entryFiles(names: readonly string[]): EntryFile[] {
  return names
    .map(entryFile)
    .filter((file) => file !== null)
    .sort((a, b) => a.order - b.order || (a.hash < b.hash ? -1 : 1));
}

/** Returns the names in a session's directory that belong to its inbox, damaged entries included. */
export function inboxNames(names: readonly string[]): string[] {
  return names.filter((name) => NAME.test(withoutStart(name, DAMAGED)));
}

/** Returns the hash that stands for an id in names. */
export function entryHash(id: string): string {
  return createHash("sha256").update(id, "utf8").digest("hex").slice(0, 32);
}

/** Encodes an entry, given as JSON, with the ids of its session. */
export function encodeEntry(ids: DocumentIds, json: string): Buffer {
  return encodeLine(`"v":1,"ids":${JSON.stringify(ids)},"entry":${json}`);
}

/** Decodes an entry of a session; `too_new` for a newer format, null when the file is damaged or another session's. */
export function decodeEntry(ids: DocumentIds, bytes: Buffer): InboxEntry | "too_new" | null {
  const line = bytes.subarray(1, -1);
  if (lineKind(line) !== "whole") return null;
  const value: unknown = JSON.parse(line.toString("utf8"));
  if (!isRecord(value) || typeof value["v"] !== "number") return null;
  if (value["v"] > 1) return "too_new";
  if (JSON.stringify(value["ids"]) !== JSON.stringify(ids)) return null;
  return isEntry(value["entry"]) ? value["entry"] : null;
}

function entryFile(name: string): EntryFile | null {
  const [, order, kind = "", bytes, hash = ""] = NAME.exec(name) ?? [];
  if (order === undefined) return null;
  return { name, order: Number(order), kind, bytes: Number(bytes), hash };
}

function isEntry(value: unknown): value is InboxEntry {
  if (!isRecord(value) || !isRecord(value["body"])) return false;
  const { id, kind, callId, at } = value;
  return [id, kind, callId, at].every((each) => typeof each === "string");
}

function withoutStart(text: string, start: string): string {
  return text.startsWith(start) ? text.slice(start.length) : text;
}
