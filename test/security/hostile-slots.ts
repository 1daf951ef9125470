import type { Slot } from "@holdfast/core";
import { nastyIds } from "@holdfast/testing";
import { id } from "../../packages/core/test/arbitraries.js";
import { samples } from "./corpus.js";

/** Characters at which careless code takes a key apart. */
const separators = ["/", ":", "|", "_", "-", ".", " ", "\0", "1:", "}", "%2f", ""];

/** Different ids, the fixed list first. */
export function hostileIds(count: number): string[] {
  const ids = new Set(nastyIds);
  // Some are drawn twice.
  for (const one of samples(id, count * 2)) if (ids.size < count) ids.add(one);
  for (let extra = 0; ids.size < count; extra++) ids.add(`../${extra}`);
  return [...ids];
}

/** Slots in which every id stands in one of the three places, and such as read alike when their ids are joined. */
export function hostileSlots(ids: readonly string[]): Slot[] {
  const slots = ids.map((one, index): Slot => {
    if (index % 4 === 0) return { agentId: "agent", userId: one, sessionId: "session" };
    if (index % 4 === 1) return { agentId: "agent", userId: "user", sessionId: one };
    if (index % 4 === 2) return { agentId: one, userId: "user", sessionId: "session" };
    return { agentId: "agent", userId: null, sessionId: one };
  });
  for (const separator of separators)
    slots.push(
      { agentId: "x", userId: `y${separator}z`, sessionId: "w" },
      { agentId: "x", userId: "y", sessionId: `z${separator}w` },
      { agentId: `x${separator}y`, userId: "z", sessionId: "w" },
    );
  const different = new Map(slots.map((slot) => [JSON.stringify(slot), slot]));
  return [...different.values()];
}

/** Runs `work` on all of them, a few at a time. */
export async function inBatches<T>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const size = 16;
  for (let start = 0; start < items.length; start += size)
    await Promise.all(
      items.slice(start, start + size).map((item, index) => work(item, start + index)),
    );
}
