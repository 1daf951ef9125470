import { HoldfastError, type Model } from "@holdfast/core";
import { checkDirectoryPath, parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import {
  definitionSchema,
  generalPurpose,
  modelSchema,
  type SubagentDefinition,
} from "./definitions/subagent-definition.js";
import { MAX_RESULT_CHARS } from "./tasks/task-life.js";

/** Options of {@link subagents}. */
export interface SubagentsOptions {
  /** Subagents that are defined in code. @default [] */
  readonly agents?: readonly SubagentDefinition[] | undefined;
  /** Models that definitions in files may name, by that name. @default {} */
  readonly models?: Readonly<Record<string, Model>> | undefined;
  /** Directory of the definitions `<name>.md` in the files that all users share; false reads none. @default "subagents" */
  readonly directory?: string | false | undefined;
  /** Levels of subagents below the agent that people talk to, 1 to 10. @default 3 */
  readonly maxDepth?: number | undefined;
  /** Most tasks of one session that may be unfinished at a time, 1 to 1,000. @default 10 */
  readonly maxRunning?: number | undefined;
  /** Characters that are kept of a task's result, 1 to 100,000. @default 100_000 */
  readonly maxResultChars?: number | undefined;
  /** Adds the built-in agent `general-purpose`. @default true */
  readonly generalPurpose?: boolean | undefined;
}

/** {@link SubagentsOptions} with the defaults filled in. */
export interface SubagentsSettings {
  /** All agents that are not defined in files, the built-in one included. */
  readonly agents: readonly SubagentDefinition[];
  readonly models: Readonly<Record<string, Model>>;
  readonly directory: string | false;
  readonly maxDepth: number;
  readonly maxRunning: number;
  readonly maxResultChars: number;
}

const directory = s.custom<string>(isDirectoryName).transform(checkDirectoryPath);

function isDirectoryName(value: unknown): boolean {
  try {
    return typeof value === "string" && checkDirectoryPath(value) !== "";
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    return false;
  }
}

const optionsSchema = s
  .strictObject({
    agents: s.array(definitionSchema).default([]),
    models: s.record(s.string().min(1), modelSchema).default({}),
    directory: s
      .union([s.literal(false), directory], "must be a path in the shared files, or false")
      .default("subagents"),
    maxDepth: s.int().min(1).max(10).default(3),
    maxRunning: s.int().min(1).max(1_000).default(10),
    maxResultChars: s.int().min(1).max(MAX_RESULT_CHARS).default(100_000),
    generalPurpose: s.boolean().default(true),
  })
  .superRefine(({ agents, generalPurpose: isAdded }, ctx) => {
    // Upper and lower case are not enough of a difference for a model, nor for some filesystems.
    const names = agents.map(({ name }) => name.toLowerCase());
    const refuse = (index: number, message: string): void =>
      ctx.addIssue({
        path: ["agents", index, "name"],
        input: agents[index]?.name,
        message,
      });
    for (const [index, name] of names.entries()) {
      const first = names.indexOf(name);
      if (first < index) refuse(index, `agents.${first} has this name already`);
      if (isAdded && name === generalPurpose.name)
        refuse(index, "is the built-in agent; set generalPurpose: false to define your own");
    }
  });

/**
 * Checks options and fills in defaults.
 *
 * @throws ConfigurationError
 */
export function readOptions(options: SubagentsOptions): SubagentsSettings {
  const parsed = parseOptions(optionsSchema, options, "subagents");
  const { generalPurpose: isAdded, agents, ...settings } = parsed;
  return { ...settings, agents: isAdded ? [...agents, generalPurpose] : agents };
}
