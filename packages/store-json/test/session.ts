import { readdirSync } from "node:fs";
import { join } from "node:path";
import {
  type AgentStateStore,
  type JsonObject,
  type Revision,
  type Slot,
  userMessage,
} from "@holdfast/core";
import { type LoadedState, loadWhole, type StateWrite, uuidv7 } from "@holdfast/core/store-kit";

/** The session most tests use. */
export const slot: Slot = { agentId: "agent", userId: "user", sessionId: "session" };

/** Its directory below a store's root. */
export function sessionDirectory(root: string): string {
  return join(root, "agent", "user-user", "session");
}

/** The names of its files, sorted. */
export function sessionFiles(root: string): string[] {
  return readdirSync(sessionDirectory(root)).sort();
}

/** What is stored for the session, which must be there. */
export async function loadSession(store: AgentStateStore): Promise<LoadedState> {
  const loaded = await loadWhole(store, slot);
  if (loaded === null) throw new Error("the session is not there");
  return loaded;
}

/** Appends messages with these texts, on top of whatever is stored. */
export async function append(
  store: AgentStateStore,
  texts: readonly string[],
  head: JsonObject = {},
  beside: Pick<StateWrite, "callRecord" | "info"> = {},
): Promise<Revision> {
  const loaded = await loadWhole(store, slot);
  return store.save(slot, {
    ...change(loaded, head),
    ...beside,
    append: texts.map((text) => userMessage(text)),
  });
}

/** A save that changes only the head. */
export function change(loaded: LoadedState | null, head: JsonObject = {}): StateWrite {
  return {
    op: uuidv7(),
    expected: loaded?.revision ?? null,
    head,
    keep: loaded?.messages.length ?? 0,
    replace: [],
    append: [],
  };
}

/** Ends the session's generation: its files then hold more than twice what it is. */
export async function rotate(store: AgentStateStore): Promise<void> {
  const { head } = await loadSession(store);
  await append(store, [], { filler: "x".repeat(100_000) });
  await append(store, [], head);
}
