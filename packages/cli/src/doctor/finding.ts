/** Result of a check: `warning` works but is risky, `broken` does not work. */
export type FindingStatus = "ok" | "warning" | "broken";

/** Result of one check, with details. */
export interface Finding {
  /** Subject, for example `redis persistence`. */
  readonly check: string;
  readonly status: FindingStatus;
  /** Observation, without secrets. */
  readonly message: string;
  /** Recommended action; on every finding that is not `ok`. */
  readonly advice?: string | undefined;
}

/** Creates a finding without problem. */
export function fine(check: string, message: string): Finding {
  return { check, status: "ok", message };
}

/** Creates a finding about a risk. */
export function warning(check: string, message: string, advice: string): Finding {
  return { check, status: "warning", message, advice };
}

/** Creates a finding about something that does not work. */
export function broken(check: string, message: string, advice: string): Finding {
  return { check, status: "broken", message, advice };
}

/** Returns the message of an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
