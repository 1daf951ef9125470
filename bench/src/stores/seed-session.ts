import type { AgentStateStore, Revision, Slot } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { sampleDrafts, sampleHead, sampleTurn } from "./sample-turn.js";

/** Turns per save: thousands at once would be one very large command. */
const CHUNK = 250;

/** Slot of a session of the measured agents. */
export function benchSlot(sessionId: string): Slot {
  return { agentId: "bench", userId: "user", sessionId };
}

/** Fills a new session with as many messages, in state and, where the store writes both at once, log. */
export async function seedSession(
  store: AgentStateStore,
  slot: Slot,
  messages: number,
): Promise<Revision | null> {
  const head = sampleHead(slot);
  let revision: Revision | null = null;
  for (let keep = 0; keep < messages; keep += 2 * CHUNK) {
    const turns = Math.min(CHUNK, Math.ceil((messages - keep) / 2));
    const append = Array.from({ length: turns }, sampleTurn).flat();
    const log = store.fuses?.log ? { log: sampleDrafts(append) } : {};
    const write = { op: uuidv7(), expected: revision, head, keep, replace: [], append, ...log };
    revision = await store.save(slot, write);
  }
  return revision;
}
