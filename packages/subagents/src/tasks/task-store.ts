import { setTimeout as sleep } from "node:timers/promises";
import {
  InvalidInputError,
  type KeyValueStore,
  type Slot,
  StateConflictError,
  StateCorruptError,
} from "@holdfast/core";
import { showValue } from "@holdfast/core/plugin-kit";
import { checkSlot, describeSlot, type VersionedValue } from "@holdfast/core/store-kit";
import { isFinished, mayReplace } from "./task-life.js";
import { type TaskRecord, taskRecordSchema } from "./task-record.js";

/** Attempts at a write that writes of other nodes come before. */
const ATTEMPTS = 20;
/** Longest pause between two attempts. */
const MAX_PAUSE_MS = 250;
/** Records that are read at once; each may hold a long result. */
const PAGE = 50;

/** Tasks of a session. */
export interface TaskList {
  /** Oldest first. */
  readonly tasks: readonly TaskRecord[];
  /** Values that are not records of tasks. */
  readonly problems: readonly TaskProblem[];
}

/** Stored value that is not the record of a task. */
export interface TaskProblem {
  readonly taskId: string;
  readonly error: StateCorruptError;
}

/** Places of records: a task is open until its end was told, so that a call need not look at all that ever were. */
type Place = "open" | "told";

/**
 * Keeps the tasks of sessions in a key-value store, one value per task, so that tasks that run at once do not compete.
 *
 * Contract:
 * - A session sees its own tasks and no others, whatever ids users, sessions and tasks have.
 * - Records change by compare-and-set, and only as {@link mayReplace} allows: a task that is over stays as it was reported.
 * - An error of the store is passed on. Every method may be repeated after one.
 */
export class TaskStore {
  readonly #keyValue: KeyValueStore;

  constructor(keyValue: KeyValueStore) {
    this.#keyValue = keyValue;
  }

  /**
   * Stores the record of a new task, or returns the one that is stored under its id already.
   *
   * @throws StateCorruptError when something else is stored there
   */
  async create(
    slot: Slot,
    record: TaskRecord,
  ): Promise<{ readonly record: TaskRecord; readonly isNew: boolean }> {
    const { taskId } = record;
    return this.#compete(async () => {
      const told = await this.#read(slot, taskId, "told");
      if (told) return { record: told.record, isNew: false };
      try {
        await this.#keyValue.put(namespaceOf(slot, "open"), taskId, record, { expected: null });
        return { record, isNew: true };
      } catch (error) {
        if (!StateConflictError.is(error)) throw error;
        const stored = await this.get(slot, taskId);
        if (stored === null) throw error;
        return { record: stored, isNew: false };
      }
    });
  }

  /**
   * Reads a task; null when there is none.
   *
   * @throws StateCorruptError
   */
  async get(slot: Slot, taskId: string): Promise<TaskRecord | null> {
    const open = await this.#read(slot, taskId, "open");
    return (open ?? (await this.#read(slot, taskId, "told")))?.record ?? null;
  }

  /** Reads all tasks of a session. */
  list(slot: Slot): Promise<TaskList> {
    return this.#list(slot, ["told", "open"]);
  }

  /** Reads the tasks of a session whose end was not put away with {@link archive}. */
  listOpen(slot: Slot): Promise<TaskList> {
    return this.#list(slot, ["open"]);
  }

  /** Puts a finished task away: it can still be read, and is open no more. */
  async archive(slot: Slot, taskId: string): Promise<void> {
    const found = await this.#read(slot, taskId, "open");
    if (!found || !isFinished(found.record.status)) return;
    await this.#keyValue.put(namespaceOf(slot, "told"), taskId, found.record);
    await this.#keyValue.delete(namespaceOf(slot, "open"), taskId);
  }

  /**
   * Changes a task by compare-and-set. `edit` gets the record as it is stored and returns the new one, or null to leave it; it
   * is called again when another write came first.
   *
   * @returns the record that is stored afterwards; null when there is none
   * @throws InvalidInputError when the life of a task does not allow the change
   * @throws StateConflictError when other nodes wrote first in every attempt
   * @throws StateCorruptError
   */
  async change(
    slot: Slot,
    taskId: string,
    edit: (record: TaskRecord) => TaskRecord | null,
  ): Promise<TaskRecord | null> {
    return this.#compete(async () => {
      const stored = await this.#read(slot, taskId, "open");
      if (stored === null) return this.get(slot, taskId);
      const { record: before, version } = stored;
      const after = edit(before);
      if (after === null) return before;
      if (!mayReplace(before, after))
        throw new InvalidInputError(
          `${describeTask(slot, taskId)} is ${before.status} and cannot become what was to be stored, ${after.status}`,
        );
      await this.#keyValue.put(namespaceOf(slot, "open"), taskId, after, { expected: version });
      return after;
    });
  }

  /** Deletes all tasks of a session, damaged ones included. One that is created meanwhile may stay. */
  async deleteAll(slot: Slot): Promise<void> {
    for (const place of ["told", "open"] as const) {
      const namespace = namespaceOf(slot, place);
      for await (const taskIds of this.#pages(namespace))
        await Promise.all(taskIds.map((taskId) => this.#keyValue.delete(namespace, taskId)));
    }
  }

  async #list(slot: Slot, places: readonly Place[]): Promise<TaskList> {
    const tasks = new Map<string, TaskRecord>();
    const problems: TaskProblem[] = [];
    for (const place of places)
      for await (const taskIds of this.#pages(namespaceOf(slot, place)))
        for (const found of await this.#readPage(slot, taskIds, place)) {
          if ("status" in found) tasks.set(found.taskId, found);
          else problems.push(found);
        }
    return { tasks: [...tasks.values()].sort(byTime), problems };
  }

  async *#pages(namespace: readonly string[]): AsyncGenerator<readonly string[]> {
    let cursor: string | undefined;
    do {
      const page = await this.#keyValue.list(namespace, { limit: PAGE, cursor });
      yield page.keys;
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  async #read(
    slot: Slot,
    taskId: string,
    place: Place,
  ): Promise<{ readonly record: TaskRecord; readonly version: string } | null> {
    const stored = await this.#keyValue
      .get(namespaceOf(slot, place), taskId)
      .catch((error: unknown) => {
        throw StateCorruptError.is(error) ? damaged(slot, taskId, error) : error;
      });
    if (stored === null) return null;
    return { record: recordOf(slot, taskId, stored), version: stored.version };
  }

  async #readPage(
    slot: Slot,
    taskIds: readonly string[],
    place: Place,
  ): Promise<readonly (TaskRecord | TaskProblem)[]> {
    if (taskIds.length === 0) return [];
    const values = await this.#keyValue.getMany(namespaceOf(slot, place), taskIds).catch(ifDamaged);
    const found = await Promise.all(
      taskIds.map(async (taskId, index) => {
        try {
          const value = values?.[index];
          if (value) return recordOf(slot, taskId, value);
          return values ? null : ((await this.#read(slot, taskId, place))?.record ?? null);
        } catch (error) {
          if (StateCorruptError.is(error)) return { taskId, error };
          throw error;
        }
      }),
    );
    return found.filter((one) => one !== null);
  }

  /** Repeats `attempt` while other writes come first. */
  async #compete<T>(attempt: () => Promise<T>): Promise<T> {
    for (let count = 1; ; count++) {
      try {
        return await attempt();
      } catch (error) {
        if (!StateConflictError.is(error) || count === ATTEMPTS) throw error;
      }
      // Exponential backoff with full jitter
      await sleep(Math.random() * Math.min(2 ** count, MAX_PAUSE_MS));
    }
  }
}

function namespaceOf(slot: Slot, place: Place): readonly string[] {
  const { agentId, userId, sessionId } = checkSlot(slot);
  const owner = userId === null ? ["anonymous"] : ["users", userId];
  return ["subagents", agentId, ...owner, sessionId, place];
}

function recordOf(slot: Slot, taskId: string, { value }: VersionedValue): TaskRecord {
  const { data } = taskRecordSchema.safeParse(value);
  if (data?.taskId !== taskId) throw damaged(slot, taskId);
  return data;
}

/** One damaged value makes some stores refuse the whole page: its values are then read one by one. */
function ifDamaged(error: unknown): null {
  if (StateCorruptError.is(error)) return null;
  throw error;
}

function damaged(slot: Slot, taskId: string, cause?: StateCorruptError): StateCorruptError {
  return new StateCorruptError(
    `${describeTask(slot, taskId)} does not have the form of a task record. Delete it to go on without it`,
    cause && { cause },
  );
}

function describeTask(slot: Slot, taskId: string): string {
  return `task ${showValue(taskId)} of ${describeSlot(slot)}`;
}

function byTime(one: TaskRecord, other: TaskRecord): number {
  return (
    Date.parse(one.startedAt) - Date.parse(other.startedAt) || (one.taskId < other.taskId ? -1 : 1)
  );
}
