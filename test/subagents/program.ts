import type { ScriptedToolCall } from "@holdfast/testing";

/** One step of a program: tool calls at once, or words to say; `$results` stands for the results so far. */
export type ProgramStep = readonly ScriptedToolCall[] | string;
/** Steps of an agent, for its model to do; see `team.mjs`. */
export type Program = readonly ProgramStep[];

/** Call of a tool that writes a line. */
export function act(
  name: "note" | "look" | "nap" | "hold" | "stay",
  text: string | number,
): ScriptedToolCall {
  return { name, input: { text: String(text) } };
}

/** Options of {@link spawn}. */
export interface SpawnOptions {
  readonly agent?: string;
  readonly label?: string;
  readonly timeoutSeconds?: number;
}

/** Call of `agent_spawn` with a program; the agent waits for it unless `timeoutSeconds` says otherwise. */
export function spawn(program: Program, options: SpawnOptions = {}): ScriptedToolCall {
  const { agent = "worker", timeoutSeconds = 600, ...rest } = options;
  return {
    name: "agent_spawn",
    input: { agent, timeoutSeconds, task: JSON.stringify(program), ...rest },
  };
}

/** Call of `agent_spawn` that does not wait. */
export function background(program: Program, options: SpawnOptions = {}): ScriptedToolCall {
  return spawn(program, { ...options, timeoutSeconds: 0 });
}

/** Call of `agent_send` with a program. */
export function send(to: string, program: Program, timeoutSeconds = 600): ScriptedToolCall {
  return { name: "agent_send", input: { to, message: JSON.stringify(program), timeoutSeconds } };
}

/** Call of a tool that is about a task: `$task0` is the first one of the session. */
export function about(
  name: "task_output" | "task_cancel",
  taskId: string,
  input = {},
): ScriptedToolCall {
  return { name, input: { taskId, ...input } };
}
