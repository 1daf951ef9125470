/** Result of one scenario. */
export interface ConformanceResult {
  readonly scenario: string;
  readonly checks: string;
  readonly passed: boolean;
  readonly output: string;
}
export const knownFailures: Readonly<Record<string, string>>;
export function runConformance(): Promise<readonly ConformanceResult[]>;
export function conformanceTable(results: readonly ConformanceResult[]): string;
