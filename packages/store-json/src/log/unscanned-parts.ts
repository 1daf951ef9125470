import type { ScanFinds } from "../scan/scan-range.js";
import type { ScannedPart } from "./scanned-parts.js";
import type { PlannedOrder } from "./search-plan.js";

const nothing: ScanFinds = { matches: new Float64Array(), blobLines: new Float64Array() };

/** The parts of a plan as they are, where there is nothing to look for in bytes. */
export async function* unscannedParts(
  plan: AsyncGenerator<PlannedOrder, void>,
): AsyncGenerator<ScannedPart, void> {
  for await (const { parts } of plan) for (const part of parts) yield { ...part, finds: nothing };
}
