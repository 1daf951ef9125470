import { createHash } from "node:crypto";
import type { Slot } from "@holdfast/core";
import { slotKey, slotText, userTag } from "@holdfast/core/store-kit";

/** Parts of a slot, each stored under its own key. */
export type SlotPart =
  | "state"
  | "messages"
  | "lease"
  | "queue"
  | "calls"
  | "log"
  | "log-ids"
  | "blobs"
  | "inbox"
  | "call-records"
  | "feeds";

/** Key of one part of a slot; all parts of a slot have the same hash tag and so live on the same node. */
export function partKey(prefix: string, slot: Slot, part: SlotPart): string {
  return `${prefix}v1:{${tagOf(slot)}}:${part}`;
}

/** Key of the events of one call, which is also the channel on which they are announced. */
export function feedKey(prefix: string, slot: Slot, callId: string): string {
  return `${partKey(prefix, slot, "feeds")}:${callId}`;
}

/** Cache of recently used tags: hashing a slot is the most expensive part of making a key. */
const tags = new Map<string, string>();
const MAX_CACHED_TAGS = 1_000;

function tagOf(slot: Slot): string {
  const text = slotText(slot);
  let tag = tags.get(text);
  if (tag === undefined) {
    tag = slotKey(slot);
    if (tags.size >= MAX_CACHED_TAGS) tags.clear();
    tags.set(text, tag);
  }
  return tag;
}

const gateParts = ["lease", "queue", "calls"] as const;
const loadParts = [...gateParts, "state", "messages", "inbox", "log", "call-records"] as const;
const saveParts = [...loadParts, "log-ids"] as const;

/** All parts of a slot, in the order scripts expect. */
export const slotParts: readonly SlotPart[] = [...saveParts, "blobs"];

/** Keys of a slot's gate and signals, in the order scripts expect. */
export function gateKeys(prefix: string, slot: Slot): string[] {
  return keysOf(prefix, slot, gateParts);
}

/** Keys of a slot's gate, followed by those of all that is kept of it, in the order scripts expect. */
export function slotKeys(prefix: string, slot: Slot): string[] {
  return keysOf(prefix, slot, slotParts);
}

/** Keys of a slot that are read with its state: the first of `slotKeys`, or all when they are also kept for longer. */
export function loadKeys(prefix: string, slot: Slot, ttlMs: number | undefined): string[] {
  return keysOf(prefix, slot, ttlMs === undefined ? loadParts : slotParts);
}

/** Keys of a slot that are written with its state: the first of `slotKeys`, or all when they are also kept for longer. */
export function saveKeys(prefix: string, slot: Slot, areKept: boolean): string[] {
  return keysOf(prefix, slot, areKept ? slotParts : saveParts);
}

function keysOf(prefix: string, slot: Slot, parts: readonly SlotPart[]): string[] {
  const tag = `${prefix}v1:{${tagOf(slot)}}:`;
  return parts.map((part) => tag + part);
}

/** Heartbeat of a process. */
export function beatKey(prefix: string, nodeId: string): string {
  return `${prefix}v1:beat:${nodeId}`;
}

/** Index of an agent's sessions of one user. */
export function userIndexKey(prefix: string, agentId: string, userId: string | null): string {
  return `${prefix}v1:{${digest(agentId, userTag(userId))}}:user-sessions`;
}

/** Index of an agent's sessions of one user that have a log. */
export function logIndexKey(prefix: string, agentId: string, userId: string): string {
  return `${prefix}v1:{${digest(agentId, userTag(userId))}}:user-logs`;
}

/** One shard of the index of all sessions of an agent. */
export function agentIndexKey(prefix: string, agentId: string, shard: number): string {
  return `${prefix}v1:{${digest(agentId)}.${shard}}:agent-sessions`;
}

/** Index of those sessions of an index whose tool calls wait for an answer; it lives on the same node. */
export function waitingIndexKey(indexKey: string): string {
  return `${indexKey}-waiting`;
}

/** Set of agents that have sessions. */
export function agentsKey(prefix: string): string {
  return `${prefix}v1:{agents}:agents`;
}

/** Hashes the parts, each preceded by its length so that no two lists collide. */
function digest(...parts: readonly string[]): string {
  const text = parts.map((part) => `${part.length}:${part}`).join("");
  return createHash("sha256").update(text, "utf8").digest("hex");
}
