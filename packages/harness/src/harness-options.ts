import { resolve } from "node:path";
import type { FilesystemSpec, ReActAgentOptions } from "@holdfast/core";
import { showValue } from "@holdfast/core/plugin-kit";
import type { Skill, WorkspaceOptions } from "@holdfast/workspace";
import { z } from "zod";

/** How the harness's own workspace differs from its defaults. */
export type HarnessWorkspaceOptions = Pick<
  WorkspaceOptions,
  "tools" | "promptTokens" | "maxReadLines" | "maxReadBytes" | "maxDataBytes"
>;

/**
 * Configuration of a {@link HarnessAgent}: everything a `ReActAgent` takes, with defaults for what it keeps outside
 * itself.
 */
export interface HarnessAgentOptions extends Omit<ReActAgentOptions, "filesystem"> {
  /** Directory of the agent's files and of its conversation log. @default "./.holdfast/workspace" */
  readonly workspace?: string | undefined;
  /** File tools, budget of the prompt sections and page sizes; not for a `workspace` plugin of your own. */
  readonly workspaceOptions?: HarnessWorkspaceOptions | undefined;
  /**
   * Made into the agent's filesystem at build time. @default the workspace directory; with a state store that serves
   * every node, or an encrypted one, the key-value store that comes with it
   */
  readonly filesystem?: FilesystemSpec | undefined;
  /** Give the model `session_list`, `session_history` and `session_search` over the user's conversations. @default true */
  readonly sessionTools?: boolean | undefined;
  /** Instructions the agent can pick up when a task calls for them, beside those in the workspace's `skills/`. */
  readonly skills?: readonly Skill[] | undefined;
  /** Only one node will ever run, so a distributed state store may have a local gate, log or signals. @default false */
  readonly singleNode?: boolean | undefined;
  /** Shut down on SIGTERM and SIGINT, saving running calls; taken away again by `close()`. @default false */
  readonly signalHandlers?: boolean | undefined;
}

/** The harness's own settings, with defaults filled in. */
export interface HarnessSettings {
  /** Absolute; a relative one counts from the directory in which the agent was built. */
  readonly workspace: string;
  readonly sessionTools: boolean;
  readonly skills: readonly Skill[];
  readonly singleNode: boolean;
  readonly signalHandlers: boolean;
}

const filled = z.string().refine((value) => value.trim() !== "", "must not be blank");

const schema = z.object({
  workspace: filled.default("./.holdfast/workspace"),
  sessionTools: z.boolean().default(true),
  skills: z
    .array(
      z.object({
        name: filled,
        description: filled,
        instructions: filled,
        group: filled.optional(),
      }),
    )
    .default([]),
  singleNode: z.boolean().default(false),
  signalHandlers: z.boolean().default(false),
});

/** Fills in defaults; a setting that is wrong is added to `problems` and counts as not set. */
export function readHarnessSettings(
  options: HarnessAgentOptions,
  problems: string[],
): HarnessSettings {
  const given: Record<string, unknown> = { ...options };
  const parsed = schema.safeParse(given, { reportInput: true });
  if (!parsed.success)
    for (const { path, message, input } of parsed.error.issues) {
      problems.push(`${path.join(".")}: ${message}, got ${showValue(input)}`);
      delete given[String(path[0])];
    }
  const { workspace, ...rest } = parsed.success ? parsed.data : schema.parse(given);
  return Object.freeze({ ...rest, workspace: resolve(workspace) });
}
