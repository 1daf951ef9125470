import { constants } from "node:os";
import { resolve } from "node:path";
import type { FilesystemSpec, ReActAgentOptions, SignalHandlerOptions } from "@holdfast/core";
import { agentOptionNames, showValue } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import type { Skill, WorkspaceOptions } from "@holdfast/workspace";

/** Options of the workspace plugin that the harness adds by itself. */
export type HarnessWorkspaceOptions = Pick<
  WorkspaceOptions,
  "tools" | "promptTokens" | "maxReadLines" | "maxReadBytes" | "maxDataBytes"
>;

/**
 * Configuration of a {@link HarnessAgent}: the options of a `ReActAgent`, with defaults for its stores and files.
 */
export interface HarnessAgentOptions extends Omit<ReActAgentOptions, "filesystem"> {
  /** Directory of the agent's files and of its conversation log. @default "./.holdfast/workspace" */
  readonly workspace?: string | undefined;
  /** File tools, token budget of the prompt sections, and page sizes. Ignored if you add a `workspace` plugin of your own. */
  readonly workspaceOptions?: HarnessWorkspaceOptions | undefined;
  /**
   * The agent's filesystem, created at build time. @default the workspace directory; with a distributed or encrypted
   * state store, its key-value store
   */
  readonly filesystem?: FilesystemSpec | undefined;
  /** Give the model `session_list`, `session_history` and `session_search` over the user's conversations. @default true */
  readonly sessionTools?: boolean | undefined;
  /** Instructions the agent loads when a task calls for them, in addition to those in the workspace's `skills/`. */
  readonly skills?: readonly Skill[] | undefined;
  /**
   * Shut down on SIGTERM and SIGINT, saving running calls; `close()` removes the handlers. Options choose the signals and
   * the time that calls get: `{ timeoutMs: 10_000 }`. @default false
   */
  readonly signalHandlers?: boolean | SignalHandlerOptions | undefined;
}

/** The harness's own settings, with defaults filled in. */
export interface HarnessSettings {
  /** Absolute path; a relative one is resolved against the working directory at build time. */
  readonly workspace: string;
  readonly sessionTools: boolean;
  readonly skills: readonly Skill[];
  readonly singleNode: boolean;
  /** False when the harness handles no signals. */
  readonly signalHandlers: false | SignalHandlerOptions;
}

const signalNames = Object.keys(constants.signals) as NodeJS.Signals[];

const filled = s
  .union([s.string()], "must be a text")
  .refine((value) => value.trim() !== "", "must not be blank");

const schema = s.object({
  workspace: filled.default("./.holdfast/workspace"),
  sessionTools: s.union([s.boolean()], "must be true or false").default(true),
  skills: s
    .array(
      s.object({
        name: filled,
        description: filled,
        instructions: filled,
        group: filled.optional(),
      }),
      "must be a list of { name, description, instructions }",
    )
    .default([]),
  // The engine says when it is wrong.
  singleNode: s.boolean().default(false).catch(false),
  signalHandlers: s
    .union(
      [
        s.boolean().transform((on) => (on ? {} : (false as const))),
        s.strictObject({
          signals: s.array(s.enum(signalNames)).min(1).optional(),
          timeoutMs: s.number().min(0).optional(),
        }),
      ],
      "must be true, false or { timeoutMs?, signals? }",
    )
    .default(false),
});

type OwnOption = Exclude<keyof HarnessAgentOptions, keyof ReActAgentOptions>;

/** Options that the engine does not have. Written out so that the compiler finds a missing one. */
const ownOptions: { readonly [O in OwnOption]-?: true } = {
  workspace: true,
  workspaceOptions: true,
  sessionTools: true,
  skills: true,
  signalHandlers: true,
};

/** Names of all options of a {@link HarnessAgent}. */
export const harnessOptionNames: readonly string[] = [
  ...agentOptionNames,
  ...Object.keys(ownOptions),
];

/** Fills in defaults. An invalid setting is reported in `problems` and treated as not set. */
export function readHarnessSettings(
  options: HarnessAgentOptions,
  problems: string[],
): HarnessSettings {
  const given: Record<string, unknown> = { ...options };
  const parsed = schema.safeParse(given);
  if (!parsed.success)
    for (const { path, message, input } of parsed.error.issues) {
      problems.push(`${path.join(".")}: ${message}, got ${showValue(input)}`);
      delete given[String(path[0])];
    }
  const { workspace, ...rest } = parsed.success ? parsed.data : schema.parse(given);
  return Object.freeze({ ...rest, workspace: resolve(workspace) });
}
