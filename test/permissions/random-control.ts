import type { PermissionMode, RememberedRule, Task } from "@holdfast/core";
import fc from "fast-check";

/** Answer of a person to one call that asks; `session` and `user` approve and remember, `stop` denies and ends the turn. */
export type Choice = "leave" | "approve" | "edit" | "deny" | "stop" | "session" | "user";

/** Tool call of the model: `look` is allowed, `note` asks, `wipe` is denied, `halt` interrupts its own call. */
export interface WantedCall {
  readonly name: "look" | "note" | "wipe" | "halt";
  readonly input: { readonly text: string };
}

/** One thing that a person or the program does to a session. */
export type ControlStep =
  | {
      readonly kind: "say";
      readonly calls: readonly WantedCall[];
      readonly onPending: "refuse" | "deny";
    }
  /** One choice for each call that asks, in turn. */
  | { readonly kind: "answer"; readonly choices: readonly Choice[] }
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

const wantedCall: fc.Arbitrary<WantedCall> = fc.record({
  name: fc.oneof(
    { weight: 12, arbitrary: fc.constant("note" as const) },
    { weight: 4, arbitrary: fc.constantFrom("look" as const, "wipe" as const) },
    { weight: 1, arbitrary: fc.constant("halt" as const) },
  ),
  input: fc.record({ text }),
});

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
