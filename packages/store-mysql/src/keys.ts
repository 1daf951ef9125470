import { createHash } from "node:crypto";
import type { Slot } from "@holdfast/core";
import { slotText, userTag } from "@holdfast/core/store-kit";

/** Names of the tables of one prefix, quoted for use in a statement. */
export interface Tables {
  readonly prefix: string;
  readonly slots: string;
  readonly messages: string;
  readonly ledger: string;
  readonly inbox: string;
  readonly calls: string;
  readonly log: string;
  readonly blobs: string;
  readonly waiters: string;
  readonly nodes: string;
  readonly feeds: string;
  readonly kv: string;
  readonly migrations: string;
}

/** Returns the names of the tables; the prefix was validated with the options and cannot end a quoted name. */
export function tableNames(prefix: string): Tables {
  const name = (table: string): string => `\`${prefix}${table}\``;
  return {
    prefix,
    slots: name("slots"),
    messages: name("messages"),
    ledger: name("ledger"),
    inbox: name("inbox"),
    calls: name("calls"),
    log: name("log"),
    blobs: name("blobs"),
    waiters: name("waiters"),
    nodes: name("nodes"),
    feeds: name("feeds"),
    kv: name("kv"),
    migrations: name("migrations"),
  };
}

/** Column `k` of every table: the SHA-256 of the slot. The server never compares the ids themselves. */
export function slotHash(slot: Slot): Buffer {
  return digest(slotText(slot));
}

/** Column `agent`: the same for all slots of an agent. */
export function agentHash(agentId: string): Buffer {
  return digest(`${agentId.length}:${agentId}`);
}

/** Column `owner`: the same for all slots of an agent's user, anonymous ones for `null`. */
export function ownerHash(agentId: string, userId: string | null): Buffer {
  const user = userTag(userId);
  return digest(`${agentId.length}:${agentId}${user.length}:${user}`);
}

/** SHA-256 of a text. */
export function digest(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
