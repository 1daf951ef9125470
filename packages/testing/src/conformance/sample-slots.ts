import type { Slot } from "@holdfast/core";
import { badIds, nastyIds } from "./nasty-ids.js";

/** The slot most cases use. */
export const sampleSlot: Slot = { agentId: "agent", userId: "user", sessionId: "session" };

/** Slots with each of {@link nastyIds} in each place, and the anonymous user beside users named like it. */
export function nastySlots(): Slot[] {
  return [
    ...nastyIds.flatMap((id) => [
      { ...sampleSlot, agentId: id },
      { ...sampleSlot, userId: id },
      { ...sampleSlot, sessionId: id },
      { ...sampleSlot, userId: null, sessionId: id },
    ]),
    { ...sampleSlot, userId: null },
  ];
}

/** Slots with an invalid value in one place, each with a description of it. */
export function badSlots(): [what: string, slot: Slot][] {
  const everywhere = [...badIds, undefined];
  return (["agentId", "userId", "sessionId"] as const).flatMap((place) =>
    (place === "userId" ? everywhere : [...everywhere, null]).map((id): [string, Slot] => [
      `${place} ${naming(id)}`,
      { ...sampleSlot, [place]: id } as Slot,
    ]),
  );
}

function naming(id: unknown): string {
  return typeof id === "string" ? `of ${id.length} units` : `being a ${typeof id}`;
}
