import {
  type ConversationLog,
  HoldfastError,
  type InferInput,
  type Tool,
  type ToolInputSchema,
  type ToolOptions,
  tool,
  toolResult,
} from "@holdfast/core";
import { type Caller, callerOf } from "./caller.js";
import type { SessionToolsSettings } from "./session-tools-options.js";
import { WorkClock } from "./work-clock.js";

/** What every session tool works with. */
export interface SessionToolParts {
  readonly log: ConversationLog;
  /** Of the agent that has the tools. */
  readonly agentId: string;
  readonly settings: SessionToolsSettings;
}

/** A {@link tool} that reads logs for whoever the call belongs to. */
export interface SessionToolOptions<S extends ToolInputSchema>
  extends Omit<ToolOptions<S>, "execute" | "readOnly"> {
  run(input: InferInput<S>, caller: Caller, clock: WorkClock): Promise<unknown>;
}

/** A refusal (a bad id, somebody else's session, a log that is not there) becomes a result that the model can act on. */
export function sessionTool<S extends ToolInputSchema>(
  { agentId, settings }: SessionToolParts,
  { run, ...options }: SessionToolOptions<S>,
): Tool {
  return tool({
    ...options,
    readOnly: true,
    async execute(input, ctx) {
      const caller = callerOf(agentId, ctx);
      caller.signal.throwIfAborted();
      try {
        return await run(input, caller, new WorkClock(settings.timeoutMs, caller.signal));
      } catch (error) {
        if (HoldfastError.is(error)) return refused(`${options.name}: ${error.message}.`);
        throw error;
      }
    },
  });
}

/** A result that says why there is none. */
export function refused(output: string): unknown {
  return toolResult({ output, state: "error" });
}
