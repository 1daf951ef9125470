import type { JsonValue, PermissionMode } from "@holdfast/core";
import type { ScriptedReply } from "@holdfast/testing";
import fc from "fast-check";

/** Something that happens to a session. */
export type Command =
  | { readonly type: "say" | "fail"; readonly steps: readonly ScriptedReply[] }
  | { readonly type: "answer"; readonly approve: boolean; readonly steps: readonly ScriptedReply[] }
  | { readonly type: "mode"; readonly mode: PermissionMode }
  | { readonly type: "enter" | "exit" | "compact" | "restart" };

const todo = fc.record(
  {
    content: fc.constantFrom("read", "write", "test"),
    id: fc.constantFrom("1", "2", "x"),
    status: fc.constantFrom("pending", "in_progress", "completed"),
  },
  { requiredKeys: ["content"] },
);
const input = (name: string): fc.Arbitrary<JsonValue> => {
  if (name === "plan_write") return fc.record({ content: fc.constantFrom("plan A", "plan B") });
  if (name === "todo_write") return fc.record({ todos: fc.array(todo, { maxLength: 4 }) });
  return fc.constant({});
};
const call = fc
  .constantFrom(
    ...["plan_enter", "plan_write", "plan_write", "plan_exit", "plan_exit", "todo_write"],
    ...["write_note", "ask_note", "look"],
  )
  .chain((name) => fc.record({ name: fc.constant(name), input: input(name) }));
const step = fc
  .array(call, { minLength: 1, maxLength: 4 })
  .map((toolCalls): ScriptedReply => ({ toolCalls }));
const steps = fc.array(step, { maxLength: 3 });

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant("say" as const), steps }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant("answer" as const), approve: fc.boolean(), steps }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("fail" as const), steps }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("mode" as const),
      mode: fc.constantFrom<PermissionMode>("default", "bypass", "dont_ask"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom(
        "enter" as const,
        "exit" as const,
        "compact" as const,
        "restart" as const,
      ),
    }),
  },
);

/** Any sequence of commands. */
export const commands: fc.Arbitrary<readonly Command[]> = fc.array(command, {
  minLength: 1,
  maxLength: 15,
});

const called = (...names: readonly string[]): ScriptedReply => ({
  toolCalls: names.map((name) => ({
    name,
    input: name === "plan_write" ? { content: "plan C" } : {},
  })),
});

/** Plans, asks on one node, is approved on another, and writes once: possible in a session after any {@link commands}. */
export const wholePlan: readonly Command[] = [
  { type: "exit" },
  { type: "mode", mode: "default" },
  {
    type: "say",
    steps: [
      called("write_note", "plan_enter"),
      called("plan_write"),
      called("plan_exit", "write_note"),
    ],
  },
  { type: "restart" },
  { type: "answer", approve: true, steps: [called("write_note")] },
];
