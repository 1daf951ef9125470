import fc from "fast-check";

/** What happens while the tool of a step runs. */
export type StepKind =
  | "plain"
  /** Its result enters the context shortened. */
  | "cut"
  /** Another agent, which the gate does not keep out, makes a whole call. */
  | "stranger"
  | "interrupt"
  | "abort"
  /** Another call takes this one back. */
  | "rollback"
  /** The answer comes from outside, with the next call. */
  | "outside"
  /** The process is gone. */
  | "death";

/** What becomes of one command of the store. */
export type CommandFault = "none" | "unavailable" | "lost";

/** One call of an agent. */
export interface PlannedCall {
  readonly callId: string | undefined;
  readonly steps: readonly StepKind[];
  /** A save that is refused is not repeated. */
  readonly end: "answer" | "model error" | "save refused";
  readonly onBusy: "enqueue" | "rollback";
  readonly appends: readonly CommandFault[];
  readonly saves: readonly CommandFault[];
}

/** Calls on one session, one after the other. */
export interface PlannedCalls {
  readonly fused: boolean;
  readonly persistence: "call" | "step";
  readonly conflictPolicy: "fail" | "merge-append" | "overwrite";
  readonly compacts: boolean;
  readonly calls: readonly PlannedCall[];
}

const faults = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.constant<CommandFault>("none") },
    fc.constantFrom<CommandFault>("unavailable", "lost"),
  ),
  { maxLength: 4 },
);

const call: fc.Arbitrary<PlannedCall> = fc.record({
  callId: fc.constantFrom(undefined, undefined, "one", "two"),
  steps: fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constant<StepKind>("plain") },
      { weight: 2, arbitrary: fc.constant<StepKind>("cut") },
      {
        weight: 3,
        arbitrary: fc.constantFrom<StepKind>(
          "stranger",
          "interrupt",
          "abort",
          "rollback",
          "outside",
          "death",
        ),
      },
    ),
    { maxLength: 4 },
  ),
  end: fc.oneof(
    { weight: 6, arbitrary: fc.constant("answer" as const) },
    fc.constantFrom("model error" as const, "save refused" as const),
  ),
  onBusy: fc.constantFrom("enqueue", "rollback"),
  appends: faults,
  saves: faults,
});

/** Random calls and faults. */
export const plannedCalls: fc.Arbitrary<PlannedCalls> = fc.record({
  fused: fc.boolean(),
  persistence: fc.constantFrom("call", "step"),
  conflictPolicy: fc.constantFrom("fail", "fail", "merge-append", "overwrite"),
  compacts: fc.boolean(),
  calls: fc.array(call, { minLength: 1, maxLength: 5 }),
});
