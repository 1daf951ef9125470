import type { Slot } from "@holdfast/core";
import { badIds, nastyIds } from "./nasty-ids.js";

/** Slots with each of {@link nastyIds} in each place, and the anonymous user beside users named like it. */
export function nastySlots(): Slot[] {
  const base = { agentId: "agent", userId: "user", sessionId: "session" };
  return [
    ...nastyIds.flatMap((id) => [
      { ...base, agentId: id },
      { ...base, userId: id },
      { ...base, sessionId: id },
      { ...base, userId: null, sessionId: id },
    ]),
    { ...base, userId: null },
  ];
}

/** Slots with one place that is no id, and what is wrong with each. */
export function badSlots(): [what: string, slot: Slot][] {
  const base = { agentId: "agent", userId: "user", sessionId: "session" };
  const everywhere = [...badIds, undefined];
  return (["agentId", "userId", "sessionId"] as const).flatMap((place) =>
    (place === "userId" ? everywhere : [...everywhere, null]).map((id): [string, Slot] => [
      `${place} ${naming(id)}`,
      { ...base, [place]: id } as Slot,
    ]),
  );
}

function naming(id: unknown): string {
  return typeof id === "string" ? `of ${id.length} units` : `being a ${typeof id}`;
}
