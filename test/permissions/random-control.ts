import type { PermissionMode, RememberedRule, Task } from "@holdfast/core";
import fc from "fast-check";

/** Answer of a person to one call that asks; `session` and `user` approve and remember, `stop` denies and ends the turn. */
export type Choice = "leave" | "approve" | "edit" | "deny" | "stop" | "session" | "user";

/** Tool call of the model: `look` is allowed, `note` asks, `wipe` is denied, `halt` interrupts its own call. */
export interface PlainCall {
  readonly name: "look" | "note" | "wipe" | "halt";
  readonly input: { readonly text: string };
}

/** Calls that the model gives to a subagent, and whether it waits for that. */
export interface DelegatedCalls {
  readonly name: "agent_spawn";
  readonly calls: readonly PlainCall[];
  readonly waits: boolean;
}

/** The model waits for the oldest task in the background, so that a person is asked what that asks. */
export interface TaskWait {
  readonly name: "task_output";
}

/** Tool call of the model. */
export type WantedCall = PlainCall | DelegatedCalls | TaskWait;

/** One thing that a person or the program does to a session. */
export type ControlStep =
  | {
      readonly kind: "say";
      readonly calls: readonly WantedCall[];
      readonly onPending: "refuse" | "deny";
    }
  /** One choice for each call that asks, in turn. */
  | { readonly kind: "answer"; readonly choices: readonly Choice[] }
  /** The program answers a background task that asks; one choice for each of its calls. */
  | { readonly kind: "answer task"; readonly approve: readonly boolean[] }
  | { readonly kind: "cancel task" }
  /** Answers a call that was answered before. */
  | { readonly kind: "answer again" }
  | { readonly kind: "interrupt" }
  | { readonly kind: "compact" }
  | { readonly kind: "mode"; readonly mode: PermissionMode }
  /** Writes the sections of planning. */
  | { readonly kind: "plan"; readonly planFile: string; readonly tasks: readonly Task[] }
  | { readonly kind: "forget"; readonly scope: RememberedRule["scope"] }
  /** Goes on with another agent, on another node. */
  | { readonly kind: "restart" };

const text = fc.constantFrom("a", "b", "c");

const plainCall = (...others: readonly "halt"[]): fc.Arbitrary<PlainCall> =>
  fc.record({
    name: fc.oneof(
      { weight: 12, arbitrary: fc.constant("note" as const) },
      { weight: 4, arbitrary: fc.constantFrom("look" as const, "wipe" as const) },
      ...others.map((name) => ({ weight: 1, arbitrary: fc.constant(name) })),
    ),
    input: fc.record({ text }),
  });

const wantedCall: fc.Arbitrary<WantedCall> = fc.oneof(
  { weight: 12, arbitrary: plainCall("halt") },
  {
    weight: 6,
    arbitrary: fc.record({
      name: fc.constant("agent_spawn" as const),
      calls: fc.array(plainCall(), { minLength: 1, maxLength: 2 }),
      waits: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ name: "task_output" as const }) },
);

const choice = fc.constantFrom<Choice>(
  ...(["leave", "approve", "approve", "edit", "deny", "stop", "session", "user"] as const),
);

const task: fc.Arbitrary<Task> = fc.record({
  id: fc.uuid(),
  content: text,
  status: fc.constantFrom("pending", "in_progress", "completed"),
});

const say = fc.record({
  kind: fc.constant("say" as const),
  calls: fc.array(wantedCall, { minLength: 1, maxLength: 4 }),
  onPending: fc.constantFrom("refuse", "deny"),
});
const answer = fc.record({
  kind: fc.constant("answer" as const),
  choices: fc.array(choice, { minLength: 4, maxLength: 4 }),
});

/** Random mixes of what people, programs and compactions do to one session. */
export const controlSteps: fc.Arbitrary<readonly ControlStep[]> = fc.array(
  fc.oneof<fc.WeightedArbitrary<ControlStep>[]>(
    { weight: 6, arbitrary: say },
    { weight: 6, arbitrary: answer },
    { weight: 4, arbitrary: fc.constant({ kind: "compact" }) },
    { weight: 2, arbitrary: fc.constant({ kind: "restart" }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("answer task" as const),
        approve: fc.array(fc.boolean(), { minLength: 2, maxLength: 2 }),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: "cancel task" }) },
    { weight: 1, arbitrary: fc.constant({ kind: "answer again" }) },
    { weight: 1, arbitrary: fc.constant({ kind: "interrupt" }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("mode" as const),
        mode: fc.constantFrom("default", "accept_edits", "explore", "bypass", "dont_ask"),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("plan" as const),
        planFile: fc.constantFrom("plans/s.md", "plans/t.md"),
        tasks: fc.array(task, { maxLength: 3 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("forget" as const),
        scope: fc.constantFrom("session", "user"),
      }),
    },
  ),
  { minLength: 10, maxLength: 16 },
);
