import type { Task } from "@holdfast/core";
import { cutText } from "@holdfast/core/plugin-kit";

/** Most items of a todo list. */
export const MAX_TODOS = 200;
/** Longest text of an item. */
export const MAX_TODO_CHARS = 500;
/** Largest list, as JSON: it is part of a state whose size is limited, and one that did not fit would fail the whole call. */
const MAX_LIST_BYTES = 65_536;

/** Characters of an item's text in {@link showTodos}. */
const SHOWN_CHARS = 160;
/** Characters of a whole list in {@link showTodos}. */
const LIST_CHARS = 4_000;

/** Item of a list that a model writes. */
export interface WantedTodo extends Omit<Task, "status"> {
  /** @default "pending" */
  readonly status?: Task["status"] | undefined;
}

/** Returns why a list cannot be taken, in words for the model; null when it can. */
export function todosProblem(wanted: readonly WantedTodo[]): string | null {
  const active = wanted.filter(({ status }) => status === "in_progress").length;
  if (active > 1)
    return `${active} items are in_progress, and at most one can be. The list was not changed: send it again with one of them in_progress and the others pending.`;
  const ids = wanted.flatMap(({ id }) => id ?? []);
  if (new Set(ids).size < ids.length)
    return "Two items have the same id. The list was not changed: leave the id of a new item out.";
  const bytes = Buffer.byteLength(JSON.stringify(wanted), "utf8");
  if (bytes > MAX_LIST_BYTES)
    return `The list has ${bytes} bytes, and at most ${MAX_LIST_BYTES} are kept. It was not changed: say less about each item, or leave completed ones out.`;
  return null;
}

/**
 * Returns a list in place of another. An item keeps its id when it names it, or when its content is that of an earlier item;
 * others get a new one.
 */
export function replaceTodos(
  before: readonly Task[],
  wanted: readonly WantedTodo[],
): readonly Task[] {
  const used = new Set(wanted.flatMap(({ id }) => id ?? []));
  const known = new Set([...used, ...before.flatMap(({ id }) => id ?? [])]);
  let last = 0;
  for (const id of known) if (/^\d{1,9}$/.test(id)) last = Math.max(last, Number(id));
  const newId = (): string => {
    do last++;
    while (known.has(String(last)));
    return String(last);
  };
  const idOf = ({ content }: WantedTodo): string => {
    const same = before.find((one) => one.content === content && one.id && !used.has(one.id));
    const id = same?.id ?? newId();
    used.add(id);
    return id;
  };
  return wanted.map((todo) => ({
    id: todo.id ?? idOf(todo),
    content: todo.content,
    status: todo.status ?? "pending",
    ...(todo.priority !== undefined && { priority: todo.priority }),
  }));
}

/** Tells whether two lists say the same. */
export function isSameList(one: readonly Task[], other: readonly Task[]): boolean {
  const text = (tasks: readonly Task[]) =>
    JSON.stringify(
      tasks.map(({ id, content, status, priority }) => [id, content, status, priority]),
    );
  return text(one) === text(other);
}

/** Returns the items that are not completed, the one in progress first. */
export function openTodos(tasks: readonly Task[]): readonly Task[] {
  const active = tasks.filter(({ status }) => status === "in_progress");
  return [...active, ...tasks.filter(({ status }) => status === "pending")];
}

const marks = { completed: "[x]", in_progress: "[~]", pending: "[ ]" } as const;

/** Returns a list as text, an item per line; of a long one the beginning, with the number of the others. */
export function showTodos(tasks: readonly Task[]): string {
  const lines: string[] = [];
  let chars = 0;
  for (const { id, content, status, priority } of tasks) {
    const text = cutText(content.replaceAll(/\s+/g, " ").trim(), SHOWN_CHARS);
    const line = `${marks[status] ?? "[ ]"} ${id === undefined ? "" : `${id}: `}${text}${priority === undefined ? "" : ` (${priority})`}`;
    chars += line.length + 1;
    if (chars > LIST_CHARS) break;
    lines.push(line);
  }
  const rest = tasks.length - lines.length;
  return [...lines, ...(rest > 0 ? [`… and ${rest} more`] : [])].join("\n");
}
