import type { RuntimeContext } from "../context/runtime-context.js";
import type { Slot } from "../slot/slot.js";

/**
 * Something that a tool call acts on.
 * - `command`: a command line of a POSIX shell
 * - `path`: a file or directory, relative to the workspace, or absolute
 * - `url`: an address
 * - `text`: anything else that rules can name, such as a table or a recipient
 */
export interface ToolSubject {
  readonly kind: "command" | "path" | "url" | "text";
  readonly value: string;
  /** For a path: the same with links resolved. @default resolved on the local filesystem by the guard that needs it */
  readonly real?: string | undefined;
  /** For a command: the directory that it starts in, relative to the workspace. @default the workspace */
  readonly directory?: string | undefined;
}

/** Tells guards what the calls of a tool act on; rules with a specifier are compared with it. */
export interface ToolPermission<Input = never> {
  /**
   * Returns what a call acts on, all of it: a rule that allows the call must cover every subject. Called before the tool
   * runs, and must change nothing.
   */
  subject(
    input: Input,
    ctx: { readonly slot: Slot },
  ): ToolSubject | readonly ToolSubject[] | Promise<ToolSubject | readonly ToolSubject[]>;
}

/** Decides call by call whether a person is asked. A method, so that a tool of any input fits `Tool`. */
export interface ApprovalCheck<Input = never> {
  isNeeded(input: Input, ctx: RuntimeContext): boolean | Promise<boolean>;
}
