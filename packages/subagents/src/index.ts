export type { SubagentDefinition } from "./definitions/subagent-definition.js";
export { type SessionOfTasks, type SubagentsPlugin, subagents } from "./subagents.js";
export type { SubagentsEvents, TaskEvent } from "./subagents-events.js";
export type { SubagentsOptions } from "./subagents-options.js";
export type { TaskRecord, TaskStatus, TaskUsage } from "./tasks/task-record.js";
