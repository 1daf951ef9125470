/** What a check came to: `warning` works but may hurt, `broken` does not work. */
export type FindingStatus = "ok" | "warning" | "broken";

/** One thing that was checked. */
export interface Finding {
  /** What was looked at, for example `redis persistence`. */
  readonly check: string;
  readonly status: FindingStatus;
  /** What is the case; no secrets. */
  readonly message: string;
  /** What to do about it; on every finding that is not `ok`. */
  readonly advice?: string | undefined;
}

/** All is well. */
export function fine(check: string, message: string): Finding {
  return { check, status: "ok", message };
}

/** It works, but may hurt. */
export function warning(check: string, message: string, advice: string): Finding {
  return { check, status: "warning", message, advice };
}

/** It does not work. */
export function broken(check: string, message: string, advice: string): Finding {
  return { check, status: "broken", message, advice };
}

/** What an error says, for a finding. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
