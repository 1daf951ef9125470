import { dirname, join } from "node:path";
import type { Slot } from "@holdfast/core";
import { BoundedMap } from "@holdfast/core/plugin-kit";
import { describeSlot, pathSegment, slotText } from "@holdfast/core/store-kit";
import type { Place } from "./document/place.js";

/**
 * Layout below a store's root:
 *
 * ```
 * <agent>/<user>/<session>/   the state of a session
 * @log/ @values/ @gates/ @signals/ @feeds/   the store's companions
 * @uses/      when sessions were last used, where they expire
 * @waiting/   marks of sessions that wait for an answer
 * ```
 *
 * "@" is in no agent's directory name.
 */
export const COMPANION_FOLDERS = {
  log: "@log",
  values: "@values",
  gates: "@gates",
  signals: "@signals",
  feeds: "@feeds",
  uses: "@uses",
  waiting: "@waiting",
} as const;

/** Name of a user's directory. Named users have a prefix, so that none of them is `anonymous`. */
export function userFolder(userId: string | null): string {
  return userId === null ? "anonymous" : `user-${pathSegment(userId)}`;
}

/** Directory of a slot: `<root>/<agent>/<user>/<session>`. */
export function slotDirectory(root: string, slot: Slot): string {
  return join(
    root,
    pathSegment(slot.agentId),
    userFolder(slot.userId),
    pathSegment(slot.sessionId),
  );
}

/** The directories from above `directory` up to `root`, nearest first. */
export function parentsUpTo(directory: string, root: string): string[] {
  const parents: string[] = [];
  for (let above = dirname(directory); above.length >= root.length; above = dirname(above)) {
    parents.push(above);
    if (above === root) break;
  }
  return parents;
}

/** Location of a slot's state. */
export function slotPlace(root: string, slot: Slot): Place {
  const directory = slotDirectory(root, slot);
  return {
    directory,
    parents: parentsUpTo(directory, root),
    ids: [slot.agentId, slot.userId, slot.sessionId],
    label: `the state of ${describeSlot(slot)}`,
  };
}

/** Slots for which {@link bySlot} keeps what it worked out. */
const SLOTS_KEPT = 1_000;

/** Keeps what `of` works out, for the slots used last: a command needs a path several times, and so does the next one. */
export function bySlot<T extends object>(of: (slot: Slot) => T): (slot: Slot) => T {
  const known = new BoundedMap<string, T>({ maxEntries: SLOTS_KEPT });
  return (slot) => {
    const key = slotText(slot);
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = of(slot);
    known.set(key, made);
    return made;
  };
}

/** Returns the id that a path segment stands for; null for a long one, which ends in a hash. */
export function idInSegment(segment: string): string | null {
  if (segment.includes("~")) return null;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
