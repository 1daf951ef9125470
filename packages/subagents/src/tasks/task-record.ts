import * as s from "@holdfast/core/plugin-kit/schema";

/**
 * State of a task: `waiting` for a person's answer, `paused` by a shutdown until another process goes on with it, `lost` when the
 * process that worked on it has died.
 */
export type TaskStatus =
  | "running"
  | "waiting"
  | "paused"
  | "completed"
  | "failed"
  | "cancelled"
  | "lost";

/** Tokens of the subagent's last call for a task; those before a person's answer are not among them. */
export type TaskUsage = { readonly inputTokens: number; readonly outputTokens: number };

/** Record of one task that an agent gave to a subagent; kept beside the session that gave it. */
export type TaskRecord = {
  /** Version of the format. */
  readonly v: 1;
  readonly taskId: string;
  /** Name of the subagent. */
  readonly agent: string;
  /** Name that the model gave to the subagent's session. */
  readonly label: string | null;
  /** Session of the subagent. */
  readonly childSessionId: string;
  /** Id of the subagent's call that works on it now. */
  readonly callId: string;
  /** Tool call that started it. */
  readonly toolCallId: string;
  /** Text of the task. */
  readonly task: string;
  readonly status: TaskStatus;
  /** True once the subagent's call has its session. */
  readonly isStarted: boolean;
  /** True when no tool call waits for the result. */
  readonly isBackground: boolean;
  /** True when another process may go on with it after a crash. */
  readonly isRepeatable: boolean;
  /** Number of the attempt, from 1: one more each time that a process takes it over. */
  readonly attempt: number;
  /** Start of the current attempt. */
  readonly startedAt: string;
  /** Null while it is not finished. */
  readonly endedAt: string | null;
  /** Last words of the subagent; null unless it has completed. */
  readonly result: string | null;
  /** Reason in words of a task that has failed, was cancelled or lost. */
  readonly error: string | null;
  /** Null when it is not known. */
  readonly usage: TaskUsage | null;
};

const id = s.string().min(1);
const time = s
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
  .refine((text) => !Number.isNaN(Date.parse(text)), "must be a time");
const tokens = s.number().min(0);

/** Schema of a {@link TaskRecord}. Fields that a later release adds are kept, so that nodes of both can work side by side. */
export const taskRecordSchema: s.Schema<TaskRecord> = s.looseObject({
  v: s.literal(1),
  taskId: id,
  agent: id,
  label: s.string().nullable(),
  childSessionId: id,
  callId: id,
  toolCallId: id,
  task: s.string(),
  status: s.enum(["running", "waiting", "paused", "completed", "failed", "cancelled", "lost"]),
  isStarted: s.boolean(),
  isBackground: s.boolean(),
  isRepeatable: s.boolean(),
  attempt: s.int().min(1),
  startedAt: time,
  endedAt: time.nullable(),
  result: s.string().nullable(),
  error: s.string().nullable(),
  usage: s.looseObject({ inputTokens: tokens, outputTokens: tokens }).nullable(),
});
