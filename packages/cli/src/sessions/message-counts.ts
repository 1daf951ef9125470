import type { AgentStateStore, SlotPage } from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";

type Sessions = SlotPage["slots"];

/** Fills in the number of messages where a store's listing does not know it; what cannot be read stays without. */
export async function withMessageCounts(
  stateStore: Pick<AgentStateStore, "load">,
  sessions: Sessions,
): Promise<Sessions> {
  const counted: Sessions[number][] = [];
  // One after another: a session may be large.
  for (const session of sessions)
    counted.push(
      session.messages === undefined
        ? { ...session, messages: await messagesOf(stateStore, session) }
        : session,
    );
  return counted;
}

async function messagesOf(
  stateStore: Pick<AgentStateStore, "load">,
  { slot, info }: Sessions[number],
): Promise<number | undefined> {
  const known = info?.counts?.["messages"];
  if (typeof known === "number") return known;
  const loaded = await loadWhole(stateStore, slot).catch(() => null);
  return loaded?.messages.length;
}
