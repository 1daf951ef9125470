import type { LogAlignment } from "./align-log.js";
import type { StateRelation } from "./state-copy.js";

/**
 * What a store's session is, compared with the one that should be there: nothing or the beginning of it (`behind`), all of
 * it (`same`), all of it and more (`ahead`), something else (`conflict`), or the same by name and not by content
 * (`damaged`).
 */
export type SessionVerdict =
  | { readonly kind: "same" }
  | { readonly kind: "behind" }
  | { readonly kind: "ahead" }
  | { readonly kind: "conflict" | "damaged"; readonly reason: string };

/** Puts together what was found out about state and log. */
export function sessionVerdict(
  state: StateRelation,
  { relation, shared }: LogAlignment,
): SessionVerdict {
  if (relation === "changed")
    return damaged(`record ${shared + 1} of the log has the same id and another content`);
  if (state === "later")
    return conflict("it is a copy of a later state: the original was set back, or begun anew");
  if (relation === "other")
    return conflict(`its log goes another way after ${shared} records in common`);
  if (relation === "ahead") {
    // Whoever goes on with a copy writes to its log first.
    if (state === "same" || state === "newer" || (state === "own" && shared > 0))
      return { kind: "ahead" };
    return conflict(`its log goes on after the ${shared} records that should be there`);
  }
  if (state === "own") return conflict("its state was not copied from there, or was changed since");
  if (state === "newer")
    return relation === "same"
      ? { kind: "ahead" }
      : conflict("its state went on from a copy, and the original went on too");
  return { kind: state === "same" && relation === "same" ? "same" : "behind" };
}

function conflict(reason: string): SessionVerdict {
  return { kind: "conflict", reason };
}

function damaged(reason: string): SessionVerdict {
  return { kind: "damaged", reason };
}
