import type { ScanFinds } from "../scan/scan-range.js";
import type { Scanner } from "../scan/scanner.js";
import type { PlannedOrder, PlannedPart } from "./search-plan.js";
import type { TimeSlice } from "./time-slice.js";

/** A part that was looked through. */
export interface ScannedPart extends PlannedPart {
  readonly finds: ScanFinds;
}

/** What to look for, and how. */
export interface PartScan {
  readonly scanner: Scanner;
  readonly text: string;
  /** How much there is to look through, as far as that is known. */
  readonly bytes: number;
  readonly slice: TimeSlice;
}

/** Looks through what was planned; parts come in the order of the plan, some orders are looked through ahead. */
export async function* scannedParts(
  plan: AsyncGenerator<PlannedOrder, void>,
  { scanner, text, bytes, slice }: PartScan,
): AsyncGenerator<ScannedPart, void> {
  const ahead: { order: PlannedOrder; finds: Promise<readonly ScanFinds[]> }[] = [];
  let seenBytes = 0;
  let width = 1;
  for (let isPlanned = true; ; ) {
    while (isPlanned && ahead.length < width) {
      const { value: order } = await plan.next();
      isPlanned = order !== undefined;
      if (order === undefined) break;
      // The first one at once and here: often it is all that it takes, and threads need some time to start.
      const isApart = seenBytes > 0 && Math.max(bytes, seenBytes) >= scanner.crewFromBytes;
      const ranges = order.parts.map(({ range }) => range);
      const finds = isApart
        ? scanner.scanApart(text, ranges, slice)
        : scanner.scanHere(text, ranges, slice);
      // Nobody may be left to wait for it.
      finds.catch(() => undefined);
      ahead.push({ order, finds });
      seenBytes += order.bytes;
      if (isApart) width = scanner.ordersAhead;
    }
    const next = ahead.shift();
    if (next === undefined) return;
    const finds = await slice.unlessAborted(next.finds);
    for (const [index, part] of next.order.parts.entries())
      yield { ...part, finds: finds[index] as ScanFinds };
  }
}
