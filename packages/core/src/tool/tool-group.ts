import type { Tool } from "./tool.js";

/** Tools that are switched on and off together, per session. */
export interface ToolGroup {
  readonly name: string;
  readonly tools: readonly Tool[];
  /** Whether the group is on in a session that never changed it. @default false */
  readonly active?: boolean | undefined;
  /** One sentence for the model, shown by `reset_equipped_tools`. */
  readonly description?: string | undefined;
}
