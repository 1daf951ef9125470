import { createHash } from "node:crypto";
import type { Slot } from "@holdfast/core";
import { slotKey, slotText, userTag } from "@holdfast/core/store-kit";

/** What is kept of one slot, each under a key of its own. */
export type SlotPart =
  | "state"
  | "messages"
  | "lease"
  | "queue"
  | "calls"
  | "log"
  | "log-ids"
  | "blobs";

/** The key of one part of a slot; all parts of a slot have the same hash tag and so live on the same node. */
export function partKey(prefix: string, slot: Slot, part: SlotPart): string {
  return `${prefix}v1:{${tagOf(slot)}}:${part}`;
}

/** Tags of slots used lately: hashing one costs more than all else that is done for a key. */
const tags = new Map<string, string>();
const REMEMBERED_TAGS = 1_000;

function tagOf(slot: Slot): string {
  const text = slotText(slot);
  let tag = tags.get(text);
  if (tag === undefined) {
    tag = slotKey(slot);
    if (tags.size >= REMEMBERED_TAGS) tags.clear();
    tags.set(text, tag);
  }
  return tag;
}

/** The keys of a slot's gate and signals, in the order in which scripts expect them. */
export function lineKeys(prefix: string, slot: Slot): string[] {
  return keysOf(prefix, slot, ["lease", "queue", "calls"]);
}

/** {@link lineKeys}, and behind them the keys of everything that is kept of the slot. */
export function slotKeys(prefix: string, slot: Slot): string[] {
  const kept = ["state", "messages", "log", "log-ids", "blobs"] as const;
  return keysOf(prefix, slot, ["lease", "queue", "calls", ...kept]);
}

function keysOf(prefix: string, slot: Slot, parts: readonly SlotPart[]): string[] {
  const tag = `${prefix}v1:{${tagOf(slot)}}:`;
  return parts.map((part) => tag + part);
}

/** The index of an agent's sessions of one user. */
export function userIndexKey(prefix: string, agentId: string, userId: string | null): string {
  return `${prefix}v1:{${digest(agentId, userTag(userId))}}:user-sessions`;
}

/** The index of an agent's sessions of one user that have a log. */
export function logIndexKey(prefix: string, agentId: string, userId: string): string {
  return `${prefix}v1:{${digest(agentId, userTag(userId))}}:user-logs`;
}

/** One shard of the index of all sessions of an agent. */
export function agentIndexKey(prefix: string, agentId: string, shard: number): string {
  return `${prefix}v1:{${digest(agentId)}.${shard}}:agent-sessions`;
}

/** The set of agents that have sessions. */
export function agentsKey(prefix: string): string {
  return `${prefix}v1:{agents}:agents`;
}

/** Injective: every part is preceded by its length. */
function digest(...parts: readonly string[]): string {
  const text = parts.map((part) => `${part.length}:${part}`).join("");
  return createHash("sha256").update(text, "utf8").digest("hex");
}
