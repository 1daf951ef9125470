import { createHash } from "node:crypto";
import type { Slot } from "@holdfast/core";
import { slotText, userTag } from "@holdfast/core/store-kit";

/** The tables of one prefix, quoted for use in a statement. */
export interface Tables {
  readonly prefix: string;
  readonly slots: string;
  readonly messages: string;
  readonly log: string;
  readonly blobs: string;
  readonly waiters: string;
  readonly kv: string;
  readonly migrations: string;
}

/** Names of the tables; the prefix was checked with the options and holds nothing that could end a quoted name. */
export function tableNames(prefix: string): Tables {
  const name = (table: string): string => `\`${prefix}${table}\``;
  return {
    prefix,
    slots: name("slots"),
    messages: name("messages"),
    log: name("log"),
    blobs: name("blobs"),
    waiters: name("waiters"),
    kv: name("kv"),
    migrations: name("migrations"),
  };
}

/** `k` of every table: the SHA-256 of the slot. Ids themselves are never compared by the server. */
export function slotHash(slot: Slot): Buffer {
  return digest(slotText(slot));
}

/** The `agent` column: all slots of an agent. */
export function agentHash(agentId: string): Buffer {
  return digest(`${agentId.length}:${agentId}`);
}

/** The `owner` column: all slots of an agent's user, anonymous ones for `null`. */
export function ownerHash(agentId: string, userId: string | null): Buffer {
  const user = userTag(userId);
  return digest(`${agentId.length}:${agentId}${user.length}:${user}`);
}

/** SHA-256 of a text. */
export function digest(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
