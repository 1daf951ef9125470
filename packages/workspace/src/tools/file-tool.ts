import type { InferInput, Tool, ToolInputSchema } from "@holdfast/core";
import {
  callSlot,
  type FileNamespace,
  type SafeToolOptions,
  safeTool,
} from "@holdfast/core/plugin-kit";

/** What a file tool is told about the call it runs in. */
export interface FileToolContext {
  /** Whose files; from the session, never from what the model wrote. */
  readonly namespace: FileNamespace;
  readonly signal: AbortSignal;
}

/** A {@link safeTool} that works on the files of the session it is called in. */
export interface FileToolOptions<S extends ToolInputSchema>
  extends Omit<SafeToolOptions<S>, "run"> {
  run(input: InferInput<S>, ctx: FileToolContext): Promise<unknown>;
}

/** Makes tools for the files of one agent. */
export type FileToolFactory = <S extends ToolInputSchema>(options: FileToolOptions<S>) => Tool;

/** Returns the factory of an agent's file tools. */
export function fileTools(agentId: string): FileToolFactory {
  return ({ run, ...options }) =>
    safeTool({
      ...options,
      run: (input, ctx, signal) => run(input, { namespace: callSlot(agentId, ctx), signal }),
    });
}
