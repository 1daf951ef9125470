import type { FileInfo } from "@holdfast/core/plugin-kit";
import type { SearchClock } from "./search-clock.js";

/** Files chosen by their path. */
export interface MatchingFiles {
  readonly found: readonly FileInfo[];
  /** Whether all were looked at before the time was up. */
  readonly isComplete: boolean;
}

/** The files whose path is meant; other work goes on meanwhile, because a pattern may take long for each. */
export async function matchingFiles(
  files: readonly FileInfo[],
  isMeant: (path: string) => boolean,
  clock: SearchClock,
): Promise<MatchingFiles> {
  const found: FileInfo[] = [];
  for (const file of files) {
    if (isMeant(file.path)) found.push(file);
    if (clock.isDue && (await clock.isUp())) return { found, isComplete: false };
  }
  return { found, isComplete: true };
}
