import type { OffloadReference } from "@holdfast/core/plugin-kit";

/** What an offloader answered, if it is a reference: without one the content could not be found again. */
export function checkReference(answer: OffloadReference): OffloadReference {
  if (typeof answer?.reference !== "string" || typeof answer.readBack !== "string")
    throw new TypeError("the offloader returned no reference and readBack");
  return answer;
}
