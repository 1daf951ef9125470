/** The pause after the second failure in a row. */
const FIRST_MS = 30_000;
/** The longest pause. */
const LONGEST_MS = 3_600_000;

/** How long to leave something alone that failed so often in a row: not at all after once, then twice as long each time. */
export function retryPauseMs(failures: number): number {
  return failures < 2 ? 0 : Math.min(FIRST_MS * 2 ** (failures - 2), LONGEST_MS);
}
