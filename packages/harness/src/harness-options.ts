import { resolve } from "node:path";
import { type FilesystemSpec, type ReActAgentOptions, showValue } from "@holdfast/core";
import { z } from "zod";

/** Instructions an agent can pick up when a task calls for them. */
export interface Skill {
  readonly name: string;
  /** One sentence: what it is for. */
  readonly description: string;
  /** What the agent reads once it decides to use the skill. */
  readonly instructions: string;
  /** Offered only while this tool group is active in the session. */
  readonly group?: string | undefined;
}

/**
 * Configuration of a {@link HarnessAgent}: everything a `ReActAgent` takes, with defaults for what it keeps outside
 * itself.
 */
export interface HarnessAgentOptions extends Omit<ReActAgentOptions, "filesystem"> {
  /** Directory of the agent's files and of its conversation log. @default "./.holdfast/workspace" */
  readonly workspace?: string | undefined;
  /** Made into the agent's filesystem at build time. */
  readonly filesystem?: FilesystemSpec | undefined;
  /** Offer the model tools over the conversation log. Kept; no package of this release has such tools. @default true */
  readonly sessionTools?: boolean | undefined;
  /** Kept; no package of this release reads them. */
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
