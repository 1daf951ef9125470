import type { LogAlignment } from "./align-log.js";
import type { StateRelation } from "./state-copy.js";

/**
 * Relation of a stored session to the expected one: absent or a prefix of it (`behind`), equal (`same`), a continuation
 * (`ahead`), a different session (`conflict`), or equal ids with different content (`damaged`).
 */
export type SessionVerdict =
  | { readonly kind: "same" }
  | { readonly kind: "behind" }
  | { readonly kind: "ahead" }
  | { readonly kind: "conflict" | "damaged"; readonly reason: string };

/** Combines the relations of state and log. */
export function sessionVerdict(
  state: StateRelation,
  { relation, shared }: LogAlignment,
): SessionVerdict {
  if (relation === "changed")
    return damaged(`record ${shared + 1} of the log has the same id and different content`);
  if (state === "later")
    return conflict("it is a copy of a later state: the original was rolled back or recreated");
  if (relation === "other") return conflict(`its log diverges after ${shared} common records`);
  if (relation === "ahead") {
    // A call that continues a copy writes to its log first.
    if (state === "same" || state === "newer" || (state === "own" && shared > 0))
      return { kind: "ahead" };
    return conflict(`its log continues after the ${shared} expected records`);
  }
  if (state === "own") return conflict("its state is not a copy, or was changed since");
  if (state === "newer")
    return relation === "same"
      ? { kind: "ahead" }
      : conflict("both the copy and the original were continued");
  return { kind: state === "same" && relation === "same" ? "same" : "behind" };
}

function conflict(reason: string): SessionVerdict {
  return { kind: "conflict", reason };
}

function damaged(reason: string): SessionVerdict {
  return { kind: "damaged", reason };
}
