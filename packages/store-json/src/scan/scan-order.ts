import type { ScanFinds, ScanRange } from "./scan-range.js";

/** What a worker thread is told to do. */
export interface ScanOrder {
  readonly id: number;
  /** The whole query: what to look for in files is derived from it. */
  readonly text: string;
  readonly ranges: readonly ScanRange[];
}

/** What it answers. */
export interface ScanAnswer {
  readonly id: number;
  /** One for every range; null when it could not. */
  readonly finds: readonly ScanFinds[] | null;
}
