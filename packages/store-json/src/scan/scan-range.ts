/** A part of a file to look through. */
export interface ScanRange {
  readonly path: string;
  readonly from: number;
  readonly to: number;
  /**
   * - `lines`: the lines of a log that match, without the first one of the file, its header;
   * - `lines_and_blobs`: also the lines whose long texts are in files of their own;
   * - `blob`: whether such a file matches.
   */
  readonly seek: "lines" | "lines_and_blobs" | "blob";
}

/** What was found in a range: ascending offsets within the lines, at least one per line. */
export interface ScanFinds {
  /** Of lines that match; of a `blob` at most one. */
  readonly matches: Float64Array;
  /** Of lines with long texts, where those were sought. */
  readonly blobLines: Float64Array;
}
