import fc from "fast-check";
import { contentBlock } from "../arbitraries.js";
import type { Block, Message, Role, ToolResultState } from "../values.js";

const createdAt = "2026-11-16T12:00:00.000Z";
const resultState = fc.constantFrom<ToolResultState>("success", "error", "interrupted", "denied");

function call(id: string): Block {
  return { type: "tool_call", id, name: "search", input: { id } };
}

function result(callId: string, state: ToolResultState = "success"): Block {
  return { type: "tool_result", toolCallId: callId, name: "search", output: [], state };
}

const someId = fc.constantFrom("c0", "c1", "c2", "c3", "__proto__", "constructor");

/** Any blocks in any roles in any order, drawn from few call ids so that they meet. */
export const chaos: fc.Arbitrary<Message[]> = fc
  .array(
    fc.record({
      role: fc.constantFrom<Role>("user", "assistant", "assistant", "tool", "tool", "system"),
      content: fc.array(
        fc.oneof(
          contentBlock,
          { weight: 2, arbitrary: someId.map(call) },
          { weight: 3, arbitrary: fc.tuple(someId, resultState).map((args) => result(...args)) },
        ),
        { maxLength: 4 },
      ),
    }),
    { maxLength: 9 },
  )
  .map((messages) =>
    messages.map((message, index) => ({ id: `m${index}`, createdAt, ...message })),
  );

const talk = fc.record({
  role: fc.constantFrom<Role>("user", "assistant", "system"),
  content: fc.array(contentBlock, { maxLength: 2 }),
});

/** Parallel calls, answered in any order, by one message or by several. */
const act = fc.integer({ min: 1, max: 4 }).chain((count) =>
  fc.record({
    before: fc.array(contentBlock, { maxLength: 1 }),
    order: fc.shuffledSubarray(
      Array.from({ length: count }, (_, index) => index),
      { minLength: count },
    ),
    states: fc.array(resultState, { minLength: count, maxLength: count }),
    oneMessage: fc.boolean(),
  }),
);

/** Conversations as an engine makes them: nothing to repair. */
export const healthy: fc.Arbitrary<Message[]> = fc
  .array(fc.oneof(talk, act), { maxLength: 6 })
  .map((steps) => {
    const messages: Message[] = [];
    const add = (role: Role, content: readonly Block[]) =>
      messages.push({ id: `m${messages.length}`, role, content, createdAt });
    for (const [step, part] of steps.entries()) {
      if ("role" in part) {
        add(part.role, part.content);
        continue;
      }
      const ids = part.order.map((_, index) => `s${step}c${index}`);
      const results = part.order.map((index) => result(ids[index] as string, part.states[index]));
      add("assistant", [...part.before, ...ids.map(call)]);
      if (part.oneMessage) add("tool", results);
      else for (const block of results) add("tool", [block]);
    }
    return messages;
  });

type Damage = { readonly kind: (typeof kinds)[number]; readonly at: number; readonly to: number };
const kinds = ["drop", "move", "repeat", "lose", "mix", "orphan", "rerole"] as const;
const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom(...kinds),
  at: fc.nat(20),
  to: fc.nat(20),
});

function damaged(messages: Message[], { kind, at, to }: Damage, serial: number): void {
  const index = messages.length === 0 ? 0 : at % messages.length;
  const target = messages.length === 0 ? 0 : to % messages.length;
  const id = `d${serial}`;
  if (kind === "orphan") {
    messages.splice(target, 0, { id, role: "tool", content: [result("never called")], createdAt });
    return;
  }
  const message = messages[index];
  if (!message) return;
  if (kind === "drop" || kind === "move") messages.splice(index, 1);
  if (kind === "move") messages.splice(target, 0, message);
  if (kind === "repeat") messages.splice(target, 0, { ...message, id });
  if (kind === "lose") messages[index] = { ...message, content: message.content.slice(1) };
  if (kind === "rerole") messages[index] = { ...message, role: "user" };
  if (kind === "mix") {
    const next = messages[index + 1];
    if (next) {
      const content = [...message.content, ...next.content];
      messages.splice(index, 2, { ...message, content });
    }
  }
}

/** Healthy conversations after accidents: late, lost, repeated, orphaned and misplaced results and calls. */
export const accidents: fc.Arbitrary<Message[]> = fc
  .tuple(healthy, fc.array(damage, { maxLength: 4 }))
  .map(([conversation, all]) => {
    const messages = [...conversation];
    for (const [serial, one] of all.entries()) damaged(messages, one, serial);
    return messages;
  });

/** All of the above, and which calls are said to be open. */
export const openCallIds: fc.Arbitrary<Set<string>> = fc
  .array(fc.oneof(someId, fc.constantFrom("s0c0", "s1c0", "s2c0", "s2c1", "s3c0", "s4c0", "s5c1")))
  .map((ids) => new Set(ids));
