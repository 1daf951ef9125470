import {
  type InferInput,
  InvalidInputError,
  type Tool,
  type ToolInputSchema,
  type ToolPermission,
} from "@holdfast/core";
import {
  callSlot,
  checkDirectoryPath,
  type FileNamespace,
  type SafeToolOptions,
  safeTool,
} from "@holdfast/core/plugin-kit";

/** Facts that a file tool is told about the call it runs in. */
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

/**
 * Says which file or directory a call acts on, for rules such as `read_file(./.env)`. The filesystem follows no link, so that
 * the real path is the one the model wrote, in its normal form.
 */
export const onPath: ToolPermission<{ readonly path?: string | undefined }> = {
  subject: ({ path = "." }) => ({ kind: "path", value: path, real: normalForm(path) }),
};

function normalForm(path: string): string | undefined {
  try {
    return checkDirectoryPath(path) || ".";
  } catch (error) {
    // The tool refuses it in words of its own.
    if (InvalidInputError.is(error)) return undefined;
    throw error;
  }
}
