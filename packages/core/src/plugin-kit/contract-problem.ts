import { showValue } from "./show-value.js";

/** Returns what is wrong with the `contract` of a plugin or port, as the end of a sentence about it; or null. */
export function contractProblem(contract: unknown): string | null {
  if (contract === 1) return null;
  return contract === undefined
    ? "has no contract; add contract: 1"
    : `was written for contract ${showValue(contract)}; this release of @holdfast/core has contract 1`;
}
