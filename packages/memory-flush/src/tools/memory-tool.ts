import {
  HoldfastError,
  type InferInput,
  type RuntimeContext,
  type Tool,
  type ToolInputSchema,
  type ToolOptions,
  tool,
  toolResult,
} from "@holdfast/core";
import type { FileNamespace } from "@holdfast/core/plugin-kit";
import { checkId } from "@holdfast/core/store-kit";

/** What a tool of the memory is told about the call it runs in. */
export interface MemoryToolContext {
  /** Whose memory; from the session, never from what the model wrote. */
  readonly namespace: FileNamespace;
  readonly signal: AbortSignal;
}

/** A {@link tool} that works on the memory of the session it is called in. */
export interface MemoryToolOptions<S extends ToolInputSchema>
  extends Omit<ToolOptions<S>, "execute"> {
  run(input: InferInput<S>, ctx: MemoryToolContext): Promise<unknown>;
}

/** Makes a tool of one agent. What a filesystem throws besides our own errors may quote a file, so only its kind is told. */
export function memoryTool<S extends ToolInputSchema>(
  agentId: string,
  { run, ...options }: MemoryToolOptions<S>,
): Tool {
  return tool({
    ...options,
    async execute(input, ctx) {
      const signal = ctx.signal ?? new AbortController().signal;
      try {
        return await run(input, { namespace: namespaceOf(agentId, ctx), signal });
      } catch (error) {
        if (HoldfastError.is(error) || signal.aborted) throw error;
        return refused(`${options.name} failed (${reasonOf(error)}). Try again later.`);
      }
    },
  });
}

/** A result that says why there is none. */
export function refused(output: string): unknown {
  return toolResult({ output, state: "error" });
}

/** What kind of error it was, without what it says unless it is one of ours. */
export function reasonOf(error: unknown): string {
  if (HoldfastError.is(error)) return error.message;
  if (!(error instanceof Error)) return "an unknown error";
  const code = "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : error.name;
}

function namespaceOf(agentId: string, { userId, sessionId }: RuntimeContext): FileNamespace {
  return { agentId, userId, sessionId: checkId(sessionId, "sessionId") };
}
