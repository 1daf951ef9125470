import { closeSync, openSync, readSync } from "node:fs";
import type { Kernel } from "./kernel.js";
import type { Probe } from "./probe.js";
import { RangeScan } from "./range-scan.js";
import type { ScanFinds, ScanRange } from "./scan-range.js";

/**
 * Looks through a range without letting anybody else run, straight into the kernel's memory: several times as fast as
 * reading asynchronously. For worker threads. Finds nothing in a file that is gone.
 */
export function scanNow(kernel: Kernel, probe: Probe, range: ScanRange): ScanFinds {
  const scan = new RangeScan(kernel, probe, range);
  let file: number;
  try {
    file = openSync(range.path, "r");
  } catch (error) {
    // Asked here and not of `isMissing`: a thread that needs nothing of the core starts several times as fast.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return scan.finds;
    throw error;
  }
  try {
    for (let { wanted } = scan; wanted !== null; wanted = scan.wanted)
      scan.take(fill(file, kernel.memory, wanted.at, wanted.bytes));
  } finally {
    closeSync(file);
  }
  return scan.finds;
}

/** How many bytes were read: fewer only where the file ends. */
function fill(file: number, memory: Buffer, at: number, bytes: number): number {
  let filled = 0;
  while (filled < bytes) {
    const read = readSync(file, memory, filled, bytes - filled, at + filled);
    if (read === 0) break;
    filled += read;
  }
  return filled;
}
