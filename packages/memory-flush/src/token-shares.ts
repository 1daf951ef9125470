/** How many tokens of a request go where. */
export interface TokenShares {
  /** The conversation, or new notes. */
  readonly material: number;
  /** The memory, shown as what is known. */
  readonly memory: number;
  /** Notes, shown as what is known. */
  readonly notes: number;
  /** A memory that is to be written anew. */
  readonly oldMemory: number;
  /** What it may have then. */
  readonly newMemory: number;
}

const MOST_MATERIAL = 24_000;
const MOST_NOTES = 4_000;

/** Divides a model's window; a window that is not known counts as large enough. */
export function tokenShares(window: number | undefined, memoryTokens: number): TokenShares {
  const part = (ratio: number): number =>
    window === undefined ? Number.POSITIVE_INFINITY : Math.max(64, Math.floor(window * ratio));
  return {
    material: Math.min(MOST_MATERIAL, part(0.4)),
    memory: Math.min(2 * memoryTokens, part(0.15)),
    notes: Math.min(MOST_NOTES, part(0.1)),
    oldMemory: Math.min(Math.max(2 * memoryTokens, MOST_MATERIAL), part(0.3)),
    newMemory: Math.min(memoryTokens, part(0.2)),
  };
}
