import { InMemoryKeyValueStore, type KeyValueStore } from "@holdfast/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  finish,
  hold,
  moveToBackground,
  resume,
  start,
  takeOver,
} from "../../src/tasks/task-life.js";
import type { TaskRecord } from "../../src/tasks/task-record.js";
import { TaskStore } from "../../src/tasks/task-store.js";
import { at, slot, task } from "./sample-task.js";

/** Key-value store that remembers every record, in the order they were stored. */
class Recorded extends InMemoryKeyValueStore {
  readonly history: TaskRecord[] = [];
  override async put(...args: Parameters<InMemoryKeyValueStore["put"]>): Promise<string> {
    const version = await super.put(...args);
    this.history.push(args[2] as TaskRecord);
    return version;
  }
}

/** Store whose answers come in the order that the scheduler chooses. */
function scheduled(store: KeyValueStore, scheduler: fc.Scheduler): KeyValueStore {
  return Object.assign(Object.create(store) as KeyValueStore, {
    get: scheduler.scheduleFunction(store.get.bind(store)),
    put: scheduler.scheduleFunction(store.put.bind(store)),
  });
}

const callId: fc.Arbitrary<string> = fc.constantFrom("c-1", "c-2", "c-3");
const action = fc.oneof(
  fc.record({ kind: fc.constantFrom("start", "resume", "take over"), callId }),
  fc.record({ kind: fc.constantFrom("waiting", "paused"), callId }),
  fc.record({ kind: fc.constantFrom("completed", "failed"), callId }),
  fc.record({ kind: fc.constantFrom("cancelled", "lost"), callId: fc.constant(undefined) }),
  fc.record({ kind: fc.constant("background"), callId: fc.constant(undefined) }),
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

const followers: Readonly<Record<string, readonly string[]>> = {
  running: ["running", "waiting", "paused", "completed", "failed", "cancelled", "lost"],
  waiting: ["waiting", "running", "cancelled", "lost"],
  paused: ["paused", "running", "cancelled", "lost"],
};
const isOver = ({ status }: TaskRecord): boolean => !(status in followers);

/** Does one thing to the task `a`. Ends have a time of their own, by which the one that was stored is recognised. */
async function act(tasks: TaskStore, { kind, callId = "" }: Action, endedAt: string) {
  const seen = await tasks.get(slot, "a");
  if (seen === null) return { endedAt, after: (await tasks.create(slot, first)).record };
  const run = { callId, attempt: seen.attempt };
  const after = await tasks.change(slot, "a", (record) => {
    switch (kind) {
      case "start":
        return start(record, run);
      case "resume":
        return resume(record, callId);
      case "take over":
        return takeOver(record, seen, at(0));
      case "waiting":
      case "paused":
        return hold(record, kind, run);
      case "completed":
      case "failed":
        return finish(record, { status: kind, endedAt, run, result: endedAt });
      case "cancelled":
      case "lost":
        return finish(record, { status: kind, endedAt });
      default:
        return moveToBackground(record);
    }
  });
  return { endedAt, after };
}

const first = task("a", { isRepeatable: true });

test("whatever several nodes do to a task, and in any order, it has one life and one end", async () => {
  const nodes = fc.array(fc.array(action, { maxLength: 8 }), { minLength: 2, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), nodes, async (scheduler, actions) => {
      const store = new Recorded();
      const work = actions.map(async (list, node) => {
        const tasks = new TaskStore(scheduled(store, scheduler));
        const done = [];
        for (const [n, one] of list.entries())
          done.push(await act(tasks, one, at(1 + node * 100 + n)));
        return done;
      });
      const done = (await scheduler.waitFor(Promise.all(work))).flat();
      const { history } = store;
      for (const [index, after] of history.entries()) {
        const before = history[index - 1];
        if (before === undefined) {
          expect(after).toEqual(first);
        } else {
          expect(isOver(before)).toBe(false);
          expect(followers[before.status]).toContain(after.status);
          expect([0, 1]).toContain(after.attempt - before.attempt);
          expect(after.endedAt !== null).toBe(isOver(after));
        }
      }
      // Everyone who ended it and was told another end knows that theirs was too late.
      const ends = new Set(done.flatMap(({ after }) => after?.endedAt ?? []));
      expect(ends.size).toBeLessThanOrEqual(1);
      const last = history.at(-1);
      expect(done.filter(({ after, endedAt }) => after?.endedAt === endedAt).length).toBe(
        last?.endedAt && done.some(({ endedAt }) => endedAt === last.endedAt) ? 1 : 0,
      );
      const { tasks } = await new TaskStore(store).list(slot);
      expect(tasks).toEqual(last ? [last] : []);
    }),
    { numRuns: process.env["HOLDFAST_LONG"] === "1" ? 5_000 : 200 },
  );
});
