/** Tokens of a request by use. */
export interface TokenShares {
  /** The conversation, or new notes. */
  readonly material: number;
  /** The memory, shown as known facts. */
  readonly memory: number;
  /** Notes, shown as known facts. */
  readonly notes: number;
  /** A memory that is rewritten. */
  readonly oldMemory: number;
  /** The new memory. */
  readonly newMemory: number;
}

const MOST_MATERIAL = 24_000;
const MOST_NOTES = 4_000;

/** Divides a model's context window; an unknown window counts as large enough. */
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
