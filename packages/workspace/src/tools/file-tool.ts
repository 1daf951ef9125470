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

/** What a file tool is told about the call it runs in. */
export interface FileToolContext {
  /** Whose files; from the session, never from what the model wrote. */
  readonly namespace: FileNamespace;
  readonly signal: AbortSignal;
}

/** A {@link tool} that works on the files of the session it is called in. */
export interface FileToolOptions<S extends ToolInputSchema>
  extends Omit<ToolOptions<S>, "execute"> {
  run(input: InferInput<S>, ctx: FileToolContext): Promise<unknown>;
}

/** Makes tools for the files of one agent. */
export type FileToolFactory = <S extends ToolInputSchema>(options: FileToolOptions<S>) => Tool;

/** A refusal by the workspace (a bad path, a file that is too large) becomes a result that the model can act on. */
export function fileTools(agentId: string): FileToolFactory {
  return ({ run, ...options }) =>
    tool({
      ...options,
      async execute(input, ctx) {
        try {
          return await run(input, contextOf(agentId, ctx));
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

function contextOf(agentId: string, ctx: RuntimeContext): FileToolContext {
  const { userId, sessionId } = ctx.agentState ?? ctx;
  if (sessionId === undefined) throw new TypeError("file tools need a session");
  return {
    namespace: { agentId, userId, sessionId },
    signal: ctx.signal ?? new AbortController().signal,
  };
}
