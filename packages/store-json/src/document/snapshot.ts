import type { JsonValue, Message, Revision } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import type { Chain } from "./chain.js";
import type { Contents } from "./contents.js";
import { type DocumentIds, isCallRecord } from "./record.js";
import { checksum } from "./record-line.js";

const FORMAT = "holdfast.snapshot";
/** Earlier revisions in a snapshot: those of some 32 turns, each of which saves twice. */
const REVISIONS_KEPT = 64;
const END = /^\n"crc":"([0-9a-f]{8})"\}\n$/;
const END_BYTES = 19;

/** The first line of a snapshot: all that a listing needs. */
export interface SnapshotTitle {
  readonly ids: DocumentIds;
  readonly generation: number;
  readonly revision: Revision | null;
  /** Set where a document was deleted: the generation starts from nothing. */
  readonly deleted: boolean;
  /** Facts for listings, as JSON. */
  readonly info: string | undefined;
}

/** Start of a generation. The chain does not know head and calls yet. */
export interface Snapshot extends SnapshotTitle {
  readonly chain: Chain;
  readonly contents: Contents;
}

/**
 * Encodes the whole document as readable JSON: a title, the head, one message per line, and a checksum over all of it.
 *
 * The chain must have ended its generation; the snapshot starts `generation`.
 */
export function encodeSnapshot(
  ids: DocumentIds,
  generation: number,
  chain: Chain,
  contents: Contents,
): Buffer {
  const messages = contents.messages.map((message) => JSON.stringify(message));
  const calls = contents.calls.map((record) => JSON.stringify(record));
  const title = JSON.stringify({
    format: FORMAT,
    v: 1,
    ids,
    generation,
    revision: chain.revision,
    deleted: chain.state === "deleted" ? true : undefined,
    newest: chain.newest,
    updatedAt: chain.updatedAt,
    ops: chain.ops,
    count: messages.length,
    messageBytes: byteLength(messages),
    callBytes: calls.length === 0 ? undefined : byteLength(calls),
    info: chain.info === undefined ? undefined : (JSON.parse(chain.info) as JsonValue),
  });
  const head = JSON.stringify(Object.fromEntries(contents.head), null, 2);
  const list = `"messages":[\n${messages.join(",\n")}\n],`;
  const remembered = calls.length === 0 ? "" : `"calls":[\n${calls.join(",\n")}\n],\n`;
  const revisions = `"revisions":${JSON.stringify(contents.revisions.slice(-REVISIONS_KEPT))},\n`;
  const text = `${title.slice(0, -1)},\n"head":${head},\n${revisions}${remembered}${list}`;
  const body = Buffer.from(text, "utf8");
  return Buffer.concat([body, Buffer.from(`\n"crc":"${checksum(body)}"}\n`)]);
}

/** Decodes a snapshot; `too_new` for a newer format, null when the bytes are damaged. */
export function decodeSnapshot(bytes: Buffer): Snapshot | "too_new" | null {
  const end = END.exec(bytes.toString("latin1", Math.max(0, bytes.length - END_BYTES)));
  if (end === null || checksum(bytes.subarray(0, -END_BYTES)) !== end[1]) return null;
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    return null;
  }
  if (!isRecord(value)) return null;
  if (value["format"] === FORMAT && typeof value["v"] === "number" && value["v"] > 1)
    return "too_new";
  const title = titleIn(value);
  if (title === null) return null;
  const { head, messages, ops, newest, updatedAt, count, messageBytes } = value;
  const { calls = [], callBytes = 0, revisions } = value;
  if (!isRecord(head) || !Array.isArray(messages) || messages.length !== count) return null;
  if (!Array.isArray(ops) || typeof messageBytes !== "number") return null;
  if (!Array.isArray(calls) || !calls.every(isCallRecord)) return null;
  return {
    ...title,
    chain: {
      revision: title.revision,
      newest: typeof newest === "string" ? newest : null,
      state: "open",
      ops,
      updatedAt: typeof updatedAt === "string" ? updatedAt : "",
      count,
      messageBytes,
      callCount: calls.length,
      callBytes: typeof callBytes === "number" ? callBytes : 0,
      info: title.info,
      head: new Map(),
      calls: [],
      past: new Set([title.revision]),
    },
    contents: {
      head: new Map(Object.entries(head as { [key: string]: JsonValue })),
      messages: messages as Message[],
      calls,
      // An earlier release wrote none.
      revisions: Array.isArray(revisions) ? revisions : ops.map(([, revision]) => revision),
    },
  };
}

/** Decodes the title from the first bytes of a snapshot, without the checksum; null when there is none. */
export function decodeSnapshotTitle(start: Buffer): SnapshotTitle | null {
  const line = start.subarray(0, start.indexOf(10) + 1).toString("utf8");
  try {
    return titleIn(JSON.parse(line.replace(/,\n$/, "}")));
  } catch {
    return null;
  }
}

function titleIn(value: unknown): SnapshotTitle | null {
  if (!isRecord(value) || value["format"] !== FORMAT || value["v"] !== 1) return null;
  const { ids, generation, revision, deleted, info } = value;
  if (!Array.isArray(ids) || typeof generation !== "number") return null;
  if (revision !== null && typeof revision !== "string") return null;
  const infoText = info === undefined ? undefined : JSON.stringify(info);
  return { ids, generation, revision, deleted: deleted === true, info: infoText };
}

function byteLength(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text, "utf8"), 0);
}
