/** When all who are compared summarise, and what they then keep: in tokens as the provider counts them. */
export interface Limits {
  /** Longest request, with system prompt and tools. */
  readonly triggerTokens: number;
  /** Of messages that stay as they are. */
  readonly keepTokens: number;
}

/** The same parts of every window. */
export function limitsFor(window: number): Limits {
  return { triggerTokens: Math.floor(window * 0.75), keepTokens: Math.floor(window * 0.2) };
}
