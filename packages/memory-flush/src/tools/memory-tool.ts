import type { InferInput, TokenCounter, Tool, ToolInputSchema } from "@holdfast/core";
import {
  callSlot,
  type FileNamespace,
  type SafeToolOptions,
  safeTool,
} from "@holdfast/core/plugin-kit";
import type { MemoryFiles } from "../files/memory-files.js";

/** Parts of the memory's tools. */
export interface MemoryToolParts {
  readonly files: MemoryFiles;
  /** The agent's clock. */
  now(): Date;
  counter(): TokenCounter;
  /** Most tokens of `MEMORY.md`. */
  readonly maxTokens: number;
  readonly agentId: string;
  /** Called after something was saved. */
  saved(namespace: FileNamespace): void;
}

/** The call that a tool of the memory runs in. */
export interface MemoryToolContext {
  /** Whose memory; from the session, never from what the model wrote. */
  readonly namespace: FileNamespace;
  readonly signal: AbortSignal;
}

/** A {@link safeTool} that works on the memory of the session it is called in. */
export interface MemoryToolOptions<S extends ToolInputSchema>
  extends Omit<SafeToolOptions<S>, "run"> {
  run(input: InferInput<S>, ctx: MemoryToolContext): Promise<unknown>;
}

/** Makes a tool for the memory of an agent's users. */
export function memoryTool<S extends ToolInputSchema>(
  agentId: string,
  { run, ...options }: MemoryToolOptions<S>,
): Tool {
  return safeTool({
    ...options,
    run: (input, ctx, signal) => run(input, { namespace: callSlot(agentId, ctx), signal }),
  });
}
