import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect } from "vitest";
import {
  type AgentStateStore,
  type Message,
  type Revision,
  type Slot,
  StateConflictError,
  userMessage,
} from "../../src/index.js";
import type { CallRecord, StateWrite } from "../../src/store-kit/index.js";

/** A slot nobody else uses. */
export function newSlot(): Slot {
  return { agentId: "agent", userId: "user", sessionId: randomUUID() };
}

/** A write that appends to whatever `expected` names. */
export function appendWrite(
  expected: Revision | null,
  keep: number,
  append: readonly Message[],
  more: Partial<StateWrite> = {},
): StateWrite {
  return {
    op: randomUUID(),
    expected,
    head: { count: keep + append.length },
    keep,
    replace: [],
    append,
    ...more,
  };
}

type Step =
  | {
      readonly kind: "save";
      readonly keep: number;
      readonly replace: readonly number[];
      readonly append: number;
    }
  | { readonly kind: "stale" | "repeat" | "delete" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("save" as const),
      keep: fc.nat({ max: 20 }),
      replace: fc.array(fc.nat({ max: 20 }), { maxLength: 3 }),
      append: fc.nat({ max: 4 }),
    }),
  },
  fc.record({ kind: fc.constantFrom("stale" as const, "repeat" as const) }),
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const) }) },
);

/** Runs random saves, stale saves, repeated saves and deletes, and compares the store with a list after each. */
export async function behavesLikeAList(
  create: () => AgentStateStore,
  numRuns: number,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const store = create();
      const slot = newSlot();
      let messages: Message[] = [];
      let revision: Revision | null = null;
      let head = {};
      let callRecords: CallRecord[] = [];
      let done: { write: StateWrite; revision: Revision }[] = [];
      for (const current of steps) {
        if (current.kind === "save") {
          const keep = Math.min(current.keep, messages.length);
          const replace = current.replace
            .filter((index) => index < keep)
            .map((index) => [index, userMessage(`replaced ${index}`)] as const);
          const append = Array.from({ length: current.append }, (_, n) => userMessage(`new ${n}`));
          const record = { callId: `call ${append.length}`, n: done.length };
          const write = appendWrite(revision, keep, append, {
            replace,
            head: { n: done.length },
            callRecord: replace.length > 0 ? undefined : { record, keep: 2 },
          });
          if (write.callRecord !== undefined)
            callRecords = [
              record,
              ...callRecords.filter(({ callId }) => callId !== record.callId),
            ].slice(0, 2);
          messages = messages.slice(0, keep);
          for (const [index, message] of replace) messages[index] = message;
          messages.push(...append);
          head = write.head;
          revision = await store.save(slot, write);
          done = [...done, { write, revision }].slice(-16);
        } else if (current.kind === "stale") {
          const write = appendWrite("1.stale", 0, [userMessage("stale")]);
          await expect(store.save(slot, write)).rejects.toSatisfy(StateConflictError.is);
        } else if (current.kind === "repeat") {
          for (const earlier of done)
            expect(await store.save(slot, earlier.write)).toBe(earlier.revision);
        } else {
          expect(await store.delete(slot)).toBe(revision !== null);
          [messages, callRecords, revision, done] = [[], [], null, []];
        }
        const loaded = await store.load(slot);
        expect(loaded).toEqual(
          revision === null ? null : { revision, head, messages, callRecords },
        );
        if (revision !== null) expect(await store.load(slot, revision)).toBe("unchanged");
      }
    }),
    { numRuns },
  );
}
