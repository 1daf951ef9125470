import type { RuntimeContext } from "../context/runtime-context.js";
import { HoldfastError } from "../errors/holdfast-error.js";
import { checkId, type Slot } from "../slot/slot.js";
import type { InferInput, ToolInputSchema } from "../tool/input-schema.js";
import {
  type ExplicitToolResult,
  type Tool,
  type ToolOptions,
  tool,
  toolResult,
} from "../tool/tool.js";
import type { ToolCallContext } from "../tool/tool-call-context.js";

/** Options of {@link safeTool}: those of `tool`, with `run` in place of `execute`. */
export interface SafeToolOptions<S extends ToolInputSchema>
  extends Omit<ToolOptions<S>, "execute"> {
  /** Runs the tool; `signal` is given even if the context has none. */
  run(input: InferInput<S>, ctx: ToolCallContext, signal: AbortSignal): unknown;
}

/**
 * Makes a tool that never throws: a failure becomes a result the model can act on.
 *
 * Messages of Holdfast errors hold no contents and are shown to the model; of any other error only the code or name is.
 * Listeners of events get the error itself. A call that is being aborted still throws, so that the engine can close it as interrupted.
 *
 * @example
 * safeTool({ name: "note", description: "Reads a note.", input, run: ({ path }) => notes.read(path) });
 */
export function safeTool<S extends ToolInputSchema>({
  run,
  ...options
}: SafeToolOptions<S>): Tool<InferInput<S>, Promise<unknown>> {
  return tool({
    ...options,
    async execute(input, ctx) {
      const signal = ctx.signal ?? new AbortController().signal;
      signal.throwIfAborted();
      try {
        return await run(input, ctx, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        return failedResult(
          HoldfastError.is(error)
            ? `${options.name}: ${error.message}.`
            : `${options.name} failed (${reasonOf(error)}). Try again later.`,
          error,
        );
      }
    },
  });
}

/** Returns a tool result in state `error`; listeners of events are told the `cause` as well. */
export function failedResult(output: string, cause?: unknown): ExplicitToolResult {
  return toolResult({ output, state: "error", cause });
}

/** Returns the part of an error that may be shown: the message of a Holdfast error, otherwise only its code or name. */
export function reasonOf(error: unknown): string {
  if (HoldfastError.is(error)) return error.message;
  if (!(error instanceof Error)) return "an unknown error";
  const code = "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : error.name;
}

/**
 * Returns the session that a tool was called in. It comes from the call, never from arguments, which the model writes.
 *
 * @throws InvalidIdError when the context names no session
 */
export function callSlot(agentId: string, ctx: RuntimeContext): Slot {
  const { userId, sessionId } = ctx.agentState ?? ctx;
  return { agentId, userId, sessionId: checkId(sessionId, "sessionId") };
}
