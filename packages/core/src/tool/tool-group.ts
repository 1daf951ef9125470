import type { Tool } from "./tool.js";

/** Tools that are activated and deactivated together, per session. */
export interface ToolGroup {
  readonly name: string;
  readonly tools: readonly Tool[];
  /** Activates the group in sessions that have not changed it. @default false */
  readonly active?: boolean | undefined;
  /** One sentence for the model, shown by `reset_equipped_tools`. */
  readonly description?: string | undefined;
}
