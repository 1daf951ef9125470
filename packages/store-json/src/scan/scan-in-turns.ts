import { readStretch } from "../io/read-stretch.js";
import { withFile } from "../log/open-log.js";
import type { TimeSlice } from "../log/time-slice.js";
import type { Kernel } from "./kernel.js";
import type { Probe } from "./probe.js";
import { RangeScan } from "./range-scan.js";
import type { ScanFinds, ScanRange } from "./scan-range.js";

/** Looks through a range in the thread of everybody else, who run in between. Finds nothing in a file that is gone. */
export async function scanInTurns(
  kernel: Kernel,
  probe: Probe,
  range: ScanRange,
  slice: TimeSlice,
): Promise<ScanFinds> {
  const scan = new RangeScan(kernel, probe, range);
  return withFile(
    range.path,
    async (handle) => {
      for (let { wanted } = scan; wanted !== null; wanted = scan.wanted) {
        const bytes = await readStretch(handle, wanted.at, wanted.at + wanted.bytes);
        kernel.memory.set(bytes);
        scan.take(bytes.length);
        if (slice.isOver) await slice.next();
      }
      return scan.finds;
    },
    scan.finds,
  );
}
