import type {
  AgentStateStore,
  ConversationLog,
  InferInput,
  Tool,
  ToolInputSchema,
} from "@holdfast/core";
import { type SafeToolOptions, safeTool, YieldingClock } from "@holdfast/core/plugin-kit";
import { type Caller, callerOf } from "./caller.js";
import type { ConversationSearch } from "./ranked/conversation-search.js";
import type { SessionToolsSettings } from "./session-tools-options.js";

/** Parts of the session tools. */
export interface SessionToolParts {
  readonly log: ConversationLog;
  /** Tells which of the ends that a log names were saved, and the titles of sessions. */
  readonly stateStore: Pick<AgentStateStore, "load" | "list">;
  readonly settings: SessionToolsSettings;
  /** Search by relevance. */
  readonly conversations: ConversationSearch;
}

/** A {@link safeTool} that reads logs for the user of the call. */
export interface SessionToolOptions<S extends ToolInputSchema>
  extends Omit<SafeToolOptions<S>, "run" | "readOnly"> {
  run(input: InferInput<S>, caller: Caller, clock: YieldingClock): Promise<unknown>;
}

/** Makes a tool that reads the logs of an agent's users, within the time that the settings allow. */
export function sessionTool<S extends ToolInputSchema>(
  { settings: { timeoutMs } }: SessionToolParts,
  { run, ...options }: SessionToolOptions<S>,
): Tool {
  return safeTool({
    ...options,
    readOnly: true,
    run: (input, ctx, signal) =>
      run(input, callerOf(ctx, signal), new YieldingClock({ timeoutMs, signal })),
  });
}
