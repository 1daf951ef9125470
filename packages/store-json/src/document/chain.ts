import { createHash } from "node:crypto";
import type { JsonValue, Revision } from "@holdfast/core";
import { REMEMBERED_OPS } from "@holdfast/core/store-kit";
import type { CallEntry, EndRecord, SaveRecord } from "./record.js";

/** Digest and size that stand for a field of the head. */
export interface HeadField {
  readonly digest: string;
  readonly bytes: number;
}

/**
 * Summary of a document without its contents: enough to tell whether a save fits and what it has to write.
 *
 * Records are taken in file order. One counts only if it follows the current revision, so of several that follow the
 * same one the first wins, in every process alike.
 */
export interface Chain {
  /** Null when there is no document: never saved, or deleted. */
  revision: Revision | null;
  /** The newest revision ever; numbering goes on from it after a delete. */
  newest: Revision | null;
  /** `sealed` and `deleted` ended the generation; records after that are ignored. */
  state: "open" | "sealed" | "deleted";
  /** Newest last. */
  ops: (readonly [op: string, revision: Revision])[];
  updatedAt: string;
  count: number;
  messageBytes: number;
  /** Number of the calls remembered, and the size of their records. */
  callCount: number;
  callBytes: number;
  /** Facts for listings, as JSON. */
  info: string | undefined;
  head: Map<string, HeadField>;
  /** Revisions of this generation that records may still name, newest last; null is where a document starts. */
  past: Set<Revision | null>;
}

/** Revisions of a generation that a chain remembers between reads. */
const PAST_KEPT = 32;

/** The chain of a document that was never saved. */
export function emptyChain(): Chain {
  return {
    revision: null,
    newest: null,
    state: "open",
    ops: [],
    updatedAt: "",
    count: 0,
    messageBytes: 0,
    callCount: 0,
    callBytes: 0,
    info: undefined,
    head: new Map(),
    past: new Set([null]),
  };
}

/** The part of a save that a chain needs: sizes, not contents. */
export interface SaveStep
  extends Pick<
    SaveRecord,
    "kind" | "prev" | "rev" | "op" | "at" | "messageBytes" | "keep" | "info"
  > {
  readonly append: { readonly length: number };
  readonly call?: Pick<CallEntry, "keep" | "bytes"> | undefined;
}

/** The part of a record that a chain needs. */
export type ChainStep = SaveStep | EndRecord;

/** Sizes and digests of a head. */
export function headFields(head: Iterable<readonly [string, JsonValue]>): Map<string, HeadField> {
  const fields = new Map<string, HeadField>();
  for (const [key, value] of head) fields.set(key, headField(JSON.stringify(value)));
  return fields;
}

/** Fate of a record: `unknown` names a revision that this chain never had, or has forgotten. */
export type Verdict = "accepted" | "lost" | "unknown";

/** Applies the next record of the file, except for the head: see {@link changeHead}. */
export function follow(chain: Chain, step: ChainStep): Verdict {
  if (chain.state !== "open") return "lost";
  if (step.prev !== chain.revision) return chain.past.has(step.prev) ? "lost" : "unknown";
  chain.updatedAt = step.at;
  if (step.kind === "save") advanceBy(chain, step);
  else if (step.kind === "seal") chain.state = "sealed";
  else {
    chain.state = "deleted";
    chain.revision = null;
    chain.count = 0;
    chain.messageBytes = 0;
    chain.callCount = 0;
    chain.callBytes = 0;
    chain.info = undefined;
    chain.head.clear();
  }
  return "accepted";
}

function advanceBy(chain: Chain, step: SaveStep): void {
  // Exact while messages are only added; after a cut the average size stands in for the dropped ones.
  const kept = chain.count === 0 ? 0 : (chain.messageBytes * step.keep) / chain.count;
  chain.messageBytes = Math.round(kept) + step.messageBytes;
  chain.count = step.keep + step.append.length;
  if (step.call !== undefined) addCall(chain, step.call);
  if (step.info !== undefined) chain.info = step.info;
  chain.revision = step.rev;
  chain.newest = step.rev;
  chain.past.add(step.rev);
  chain.ops.push([step.op, step.rev]);
  if (chain.ops.length > REMEMBERED_OPS) chain.ops.shift();
}

function addCall(chain: Chain, { keep, bytes }: Pick<CallEntry, "keep" | "bytes">): void {
  const count = chain.callCount + 1;
  // Exact until the first is dropped; from then on the average size stands in for the dropped ones.
  chain.callCount = Math.max(0, Math.min(count, keep));
  chain.callBytes = Math.round(((chain.callBytes + bytes) * chain.callCount) / count);
}

/** Applies the head of an accepted record. */
export function changeHead(
  chain: Chain,
  unset: readonly string[],
  fields: Iterable<readonly [key: string, field: HeadField]>,
): void {
  for (const key of unset) chain.head.delete(key);
  for (const [key, field] of fields) chain.head.set(key, field);
}

/** Forgets old revisions, which are only needed while a whole journal is read. */
export function trimPast(chain: Chain): Chain {
  if (chain.past.size > PAST_KEPT) chain.past = new Set([...chain.past].slice(-PAST_KEPT));
  return chain;
}

/** Returns the revision that a save with this `op` produced, if it is one of the last ones. */
export function revisionOf(chain: Chain, op: string): Revision | undefined {
  return chain.ops.find(([known]) => known === op)?.[1];
}

/** Estimates the size of the document if it were written again whole. */
export function liveBytes(chain: Chain): number {
  let bytes = chain.messageBytes + chain.callBytes + Buffer.byteLength(chain.info ?? "", "utf8");
  for (const field of chain.head.values()) bytes += field.bytes;
  return bytes;
}

/** Size and digest of a field of the head, from its JSON text. */
export function headField(json: string): HeadField {
  const digest = createHash("sha256").update(json, "utf8").digest("base64").slice(0, 22);
  return { digest, bytes: Buffer.byteLength(json, "utf8") };
}
