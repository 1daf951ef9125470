import { createHash } from "node:crypto";
import type { JsonValue, Revision } from "@holdfast/core";
import { REMEMBERED_OPS, withCallRecord } from "@holdfast/core/store-kit";
import type { CallEntry, EndRecord, SaveRecord } from "./record.js";

/** A field of the head: its JSON, or the digest that stands for it where the head is too large to keep. */
export interface HeadField {
  readonly bytes: number;
  readonly json?: string | undefined;
  readonly digest?: string | undefined;
}

/** Record of a call as JSON. */
export interface CallText {
  readonly callId: string;
  readonly json: string;
}

/** Changes of a save to what a document holds beside its messages. */
export interface HeadChange {
  readonly unset: readonly string[];
  readonly set: Iterable<readonly [key: string, json: string]>;
  readonly call?: (CallText & { readonly keep: number }) | undefined;
}

/**
 * Summary of a document without its messages: enough to tell whether a save fits and what it has to write.
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
  /** Records of calls, newest first; undefined where head and calls are too large to keep. */
  calls: readonly CallText[] | undefined;
  /** Revisions of this generation that records may still name, newest last; null is where a document starts. */
  past: Set<Revision | null>;
}

/** Revisions of a generation that a chain remembers between reads. */
const PAST_KEPT = 32;
/** Most bytes of head and call records that a chain keeps: they are whole in an answer that tells what changed. */
const KEPT_BYTES = 65_536;

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
    calls: [],
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

/** Returns the fields of a head as JSON. */
export function headTexts(head: Iterable<readonly [string, JsonValue]>): [string, string][] {
  return Array.from(head, ([key, value]) => [key, JSON.stringify(value)]);
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
    chain.calls = [];
    chain.ops = [];
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

/** Applies what an accepted record changes beside the messages. */
export function changeHead(chain: Chain, { unset, set, call }: HeadChange): void {
  for (const key of unset) chain.head.delete(key);
  for (const [key, json] of set)
    chain.head.set(key, { bytes: Buffer.byteLength(json, "utf8"), json });
  if (call !== undefined && chain.calls !== undefined)
    chain.calls = withCallRecord(chain.calls, { callId: call.callId, json: call.json }, call.keep);
}

/** Forgets what is only needed while a journal is read: old revisions, and the texts of a large head. */
export function settle(chain: Chain): Chain {
  if (chain.past.size > PAST_KEPT) chain.past = new Set([...chain.past].slice(-PAST_KEPT));
  if (keptBytes(chain) > KEPT_BYTES) {
    chain.calls = undefined;
    for (const [key, { bytes, json }] of chain.head)
      if (json !== undefined) chain.head.set(key, { bytes, digest: digestOf(json) });
  }
  return chain;
}

/** Returns the size of the head and the call records that a chain keeps. */
export function keptBytes({ head, calls = [] }: Chain): number {
  let bytes = 0;
  for (const { json = "" } of head.values()) bytes += json.length;
  for (const { json } of calls) bytes += json.length;
  return bytes;
}

/** Returns head and call records as JSON; undefined when they are not kept. */
export function keptHead(
  chain: Chain,
): { head: [key: string, json: string][]; calls: readonly CallText[] } | undefined {
  const { calls } = chain;
  if (calls === undefined) return undefined;
  const head: [string, string][] = [];
  for (const [key, { json }] of chain.head)
    if (json === undefined) return undefined;
    else head.push([key, json]);
  return { head, calls };
}

/** Tells whether a field of the head has this value, as JSON. */
export function isSameField(field: HeadField | undefined, json: string): boolean {
  if (field?.digest === undefined) return field?.json === json;
  return field.digest === digestOf(json);
}

/** Returns the revision that a save with this `op` produced, if it is one of the last ones. */
export function revisionOf(chain: Chain, op: string): Revision | undefined {
  return chain.ops.find(([known]) => known === op)?.[1];
}

/** Estimates the size of the document if it were written again whole. */
export function liveBytes(chain: Chain): number {
  const infoBytes = Buffer.byteLength(chain.info ?? "", "utf8");
  return chain.messageBytes + chain.callBytes + infoBytes + headBytes(chain);
}

function headBytes({ head }: Chain): number {
  let sum = 0;
  for (const { bytes } of head.values()) sum += bytes;
  return sum;
}

function digestOf(json: string): string {
  return createHash("sha256").update(json, "utf8").digest("base64").slice(0, 22);
}
