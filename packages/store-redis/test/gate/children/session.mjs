import { AgentState, userMessage } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { RedisAgentStateStore } from "@holdfast/store-redis";
import { Redis } from "ioredis";

export const slot = { agentId: "agent", userId: "user", sessionId: "session" };

/** A store as a process of a deployment would have it. */
export function openStore([url, keyPrefix, leaseMs]) {
  const client = new Redis(url);
  return new RedisAgentStateStore({ client, keyPrefix, leaseMs: Number(leaseMs) });
}

/** Adds one message to what the lease brought along, and gives the lease back. */
export function append(store, lease, text) {
  const { loaded } = lease;
  const state = loaded === null ? AgentState.create(slot) : AgentState.fromParts(loaded);
  state.contextMutable().push(userMessage(text));
  return store.save(slot, {
    op: uuidv7(),
    expected: loaded?.revision ?? null,
    head: state.head(),
    ...state.contextDelta(),
    lease: lease.token,
    release: true,
  });
}
