import type { Task } from "@holdfast/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openTodos, replaceTodos, showTodos, type WantedTodo } from "../src/todo-list.js";
import { calls, Planner, session } from "./planner.js";

const todos = (list: readonly { readonly [key: string]: string }[]) =>
  calls(["todo_write", { todos: list }]);

describe("todo_write", () => {
  test("replaces the list, keeps ids by id and by equal content, and shows it", async () => {
    const planner = new Planner([
      todos([{ content: "Read" }, { content: "Write", priority: "high" }, { content: "Test" }]),
      todos([
        { content: "Write", status: "in_progress", priority: "high" },
        { id: "1", content: "Read the code", status: "completed" },
        { content: "Ship" },
      ]),
      "ok",
    ]);
    await planner.say();
    const tasks: Task[] = [
      { id: "2", content: "Write", status: "in_progress", priority: "high" },
      { id: "1", content: "Read the code", status: "completed" },
      { id: "4", content: "Ship", status: "pending" },
    ];
    expect((await planner.state()).tasksContext.tasks).toEqual(tasks);
    expect((await planner.results()).at(-1)).toBe(
      "todo_write success: Todo list, 1 of 3 completed:\n[~] 2: Write (high)\n[x] 1: Read the code\n[ ] 4: Ship",
    );
    expect(planner.planningEvents().at(-1)).toEqual({ type: "todos_changed", todos: tasks });
  });

  test("an empty list clears it, and writing the same again changes and tells nothing", async () => {
    const planner = new Planner([
      todos([{ content: "Read" }]),
      todos([{ content: "Read" }]),
      todos([]),
      todos([]),
      "ok",
    ]);
    await planner.say();
    expect((await planner.state()).tasksContext.tasks).toEqual([]);
    expect(await planner.results()).toEqual([
      "todo_write success: Todo list, 0 of 1 completed:\n[ ] 1: Read",
      "todo_write success: Nothing has changed. Todo list, 0 of 1 completed:\n[ ] 1: Read",
      "todo_write success: The todo list is empty.",
      "todo_write success: Nothing has changed. The todo list is empty.",
    ]);
    expect(planner.planningEvents()).toHaveLength(2);
  });

  test.each([
    [
      "two items in progress",
      [
        { content: "a", status: "in_progress" },
        { content: "b", status: "in_progress" },
      ],
      /2 items are in_progress, and at most one can be/,
    ],
    [
      "two items of one id",
      [
        { id: "7", content: "a" },
        { id: "7", content: "b" },
      ],
      /Two items have the same id/,
    ],
    ["more than 200 items", Array.from({ length: 201 }, (_, i) => ({ content: `${i}` })), /todos/],
    ["a long item", [{ content: "x".repeat(501) }], /content/],
    ["a blank item", [{ content: "  " }], /content/],
    ["a long id", [{ id: "x".repeat(65), content: "a" }], /id/],
  ] as const)("%s is refused, and the list stays as it was", async (_, list, words) => {
    const planner = new Planner([todos([{ content: "Read" }]), todos(list), "ok"]);
    await planner.say();
    expect((await planner.results()).at(-1)).toMatch(/^todo_write error: /);
    expect((await planner.results()).at(-1)).toMatch(words);
    expect((await planner.state()).tasksContext.tasks).toMatchObject([{ id: "1" }]);
    expect(planner.planningEvents()).toHaveLength(1);
  });

  test("a list of the greatest size is taken, saved, and shown in part", async () => {
    const list = Array.from({ length: 200 }, (_, i) => ({ content: `${i} `.padEnd(300, "x") }));
    const planner = new Planner([todos(list), "ok"]);
    await planner.say();
    expect((await planner.state()).tasksContext.tasks).toHaveLength(200);
    expect((await planner.results()).join("").length).toBeLessThan(5_000);
    expect(planner.hints().join("").length).toBeLessThan(5_000);
    expect(planner.hints()[0]).toMatch(/… and \d+ more$/);
  });

  test("a list that a state could not hold is refused before it is saved", async () => {
    const list = Array.from({ length: 200 }, (_, i) => ({ content: `${i} `.padEnd(500, "鼠") }));
    const planner = new Planner([todos(list), "ok"]);
    expect((await planner.say()).text).toBe("ok");
    expect(await planner.results()).toEqual([
      expect.stringMatching(
        /^todo_write error: The list has \d+ bytes, and at most 65536 are kept/,
      ),
    ]);
  });

  test("lists that a program has put into the state are shown and replaced", async () => {
    const planner = new Planner(["ok", todos([{ content: "b" }]), "ok"]);
    await planner.agent.updateAgentState(session, (state) => {
      const odd = { content: "odd", status: "cancelled" } as unknown as Task;
      state.tasksContext.tasks = [odd, { content: "b", status: "pending" }];
    });
    await planner.say();
    expect(planner.hints()[0]).toMatch(/\n\[ \] b$/);
    await planner.say();
    expect((await planner.state()).tasksContext.tasks).toEqual([
      { id: "1", content: "b", status: "pending" },
    ]);
  });
});

const status = fc.constantFrom("pending", "in_progress", "completed");
const word = fc.constantFrom("a", "b", "c", "d", "e");
const id = fc.constantFrom("1", "2", "3", "x", "999999999", "0001");
const wanted = fc
  .array(fc.record({ content: word, id, status }, { requiredKeys: ["content"] }), { maxLength: 8 })
  .map((list) => list.filter((one, i) => !one.id || list.findIndex((o) => o.id === one.id) === i));
const lists = fc.array(wanted as fc.Arbitrary<WantedTodo[]>, { minLength: 1, maxLength: 5 });

test("whatever lists follow each other, ids are unique, and kept by id and by content", () => {
  fc.assert(
    fc.property(lists, (sequence) => {
      let before: readonly Task[] = [];
      for (const list of sequence) {
        const after = replaceTodos(before, list);
        const ids = after.map((task) => task.id);
        expect(new Set(ids).size).toBe(list.length);
        expect(after.map(({ content }) => content)).toEqual(list.map(({ content }) => content));
        const named = new Set(list.flatMap((todo) => todo.id ?? []));
        for (const [index, todo] of list.entries()) {
          if (todo.id !== undefined) expect(ids[index]).toBe(todo.id);
        }
        // As many items without an id keep one as there are earlier items of their content that no other item names.
        for (const content of ["a", "b", "c", "d", "e"]) {
          const free = before.filter((one) => one.content === content && !named.has(one.id ?? ""));
          const asking = list.filter((todo) => todo.content === content && todo.id === undefined);
          const kept = after.filter(
            (task, index) =>
              task.content === content &&
              list[index]?.id === undefined &&
              free.some((one) => one.id === task.id),
          );
          expect(kept).toHaveLength(Math.min(free.length, asking.length));
        }
        before = after;
      }
    }),
  );
});

test("whatever is in a list, its text has a line per item, is bounded, and has the active item first", () => {
  const task = fc.record({ content: fc.string({ unit: "binary", minLength: 1 }), status });
  fc.assert(
    fc.property(fc.array(task, { maxLength: 300 }), (list) => {
      const open = openTodos(list as Task[]);
      const lines = showTodos(open).split("\n");
      expect(lines.join("\n").length).toBeLessThan(4_100);
      const shown = lines.filter((line) => /^\[[ ~x]\] /.test(line)).length;
      const rest = /^… and (\d+) more$/.exec(lines.at(-1) ?? "")?.[1] ?? "0";
      expect(shown + Number(rest)).toBe(open.length);
      if (list.some((one) => one.status === "in_progress")) expect(lines[0]).toMatch(/^\[~\]/);
    }),
  );
});
