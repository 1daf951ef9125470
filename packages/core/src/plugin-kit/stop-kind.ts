/** Why a call is being stopped. */
export type StopKind = "interrupt" | "rollback" | "shutdown" | "abort" | "lease_lost";

const kinds: readonly unknown[] = [
  "interrupt",
  "rollback",
  "shutdown",
  "abort",
  "lease_lost",
] satisfies readonly StopKind[];

/**
 * Returns why the call is being stopped whose tools have this `signal`; null when it is not, for example because only the
 * tool's own time is over. Work that a tool has given to others may go on after a `shutdown` or a `lease_lost`: another process
 * goes on with the session.
 */
export function stopKindOf({ aborted, reason }: AbortSignal): StopKind | null {
  // By its fields: the reason may be one of another copy of this package.
  if (!aborted || !(reason instanceof Error) || reason.name !== "CallStopped") return null;
  const kind = "kind" in reason ? reason.kind : null;
  return kinds.includes(kind) ? (kind as StopKind) : null;
}
