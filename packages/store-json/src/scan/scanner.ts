import type { TimeSlice } from "../log/time-slice.js";
import type { ReportSink } from "../report.js";
import { createKernel, type Kernel } from "./kernel.js";
import { probeOf } from "./probe.js";
import { type CrewOptions, ScanCrew } from "./scan-crew.js";
import { scanInTurns } from "./scan-in-turns.js";
import type { ScanFinds, ScanRange } from "./scan-range.js";

/** Less than this is looked through sooner than threads are told to. */
const CREW_FROM_BYTES = 4_194_304;

/** How a {@link Scanner} differs from the usual; for tests. */
export interface ScannerOptions extends CrewOptions {
  /** From how many bytes on it takes worker threads. @default 4 MB */
  readonly crewFromBytes?: number | undefined;
}

/** Looks through files for a text: by itself when there is little, with worker threads when there is much. */
export class Scanner {
  /** From how many bytes on it is worth taking worker threads. */
  readonly crewFromBytes: number;
  readonly #crew: ScanCrew;
  #kernel: Kernel | undefined;

  constructor(report: ReportSink, options: ScannerOptions = {}) {
    this.crewFromBytes = options.crewFromBytes ?? CREW_FROM_BYTES;
    this.#crew = new ScanCrew(report, options);
  }

  /** How many orders keep all threads busy while the next ones are on their way. */
  get ordersAhead(): number {
    return 2 * this.#crew.size + 1;
  }

  /** What is found in each of the ranges, in this thread. */
  async scanHere(
    text: string,
    ranges: readonly ScanRange[],
    slice: TimeSlice,
  ): Promise<readonly ScanFinds[]> {
    this.#kernel ??= createKernel();
    const probe = probeOf(text);
    const finds: ScanFinds[] = [];
    for (const range of ranges) finds.push(await scanInTurns(this.#kernel, probe, range, slice));
    return finds;
  }

  /** The same in a worker thread; here where there is none, or where it cannot. */
  async scanApart(
    text: string,
    ranges: readonly ScanRange[],
    slice: TimeSlice,
  ): Promise<readonly ScanFinds[]> {
    return (await this.#crew.scan(text, ranges)) ?? this.scanHere(text, ranges, slice);
  }
}
