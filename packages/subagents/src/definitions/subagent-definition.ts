import type { Model } from "@holdfast/core";
import { partProblem } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";

/** Subagent that an agent can delegate to. */
export interface SubagentDefinition {
  /** One to 64 letters, digits, `_` and `-`, the first of them a letter or digit. */
  readonly name: string;
  /** Says when to use the agent, in at most 2,000 characters; the model reads it. */
  readonly description: string;
  /** System prompt of the agent, in front of the sections that plugins add. The parent's is not inherited. @default "" */
  readonly systemPrompt?: string | undefined;
  /** @default the parent's */
  readonly model?: Model | undefined;
  /** Tools of the parent that the agent may use: names, or patterns such as `files_*`. @default all of them */
  readonly tools?: readonly string[] | undefined;
  /** Rounds of reasoning that one task may take. @default the parent's */
  readonly maxIterations?: number | undefined;
  /** Allows another process to go on with a task, and so to repeat part of it, when the one that worked on it has died. @default false */
  readonly repeatable?: boolean | undefined;
  /** Leaves the agent out of the prompt and of `agent_list`; it can still be spawned by its name. @default false */
  readonly hidden?: boolean | undefined;
}

/** Built-in agent without a speciality, for work that would only fill the context of its parent. */
export const generalPurpose: SubagentDefinition = Object.freeze({
  name: "general-purpose",
  description:
    "Works on any task by itself, with the same tools as you, and reports the result. Use it for research and for work of many steps of which only the outcome matters, and for tasks that can be done at the same time.",
});

/** Tells whether `name` can be the name of a subagent. */
export function isAgentName(name: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,63}$/i.test(name);
}

/** Tells whether an agent that has these `tools`, names or patterns, has the tool `name`; one without a list has every tool. */
export function hasTool({ tools }: Pick<SubagentDefinition, "tools">, name: string): boolean {
  return tools === undefined || tools.some((pattern) => matches(pattern, name));
}

/** Takes each piece at its first place, which is as good as any later one: no pattern makes this slow. */
function matches(pattern: string, name: string): boolean {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

/** Schema of a {@link Model} given as an option. */
export const modelSchema: s.Schema<Model> = s.custom<Model>(
  (value) => partProblem("model", value) === null,
  (value) => partProblem("model", value) ?? "must be a model",
);

/** Schemas of the fields that definitions in code and in files have in common. */
export const definitionFields: {
  readonly description: s.Schema<string>;
  readonly tools: s.Schema<string[]>;
  readonly maxIterations: s.Schema<number>;
  readonly flag: s.Schema<boolean>;
} = {
  description: s.string().max(2_000).regex(/\S/, "must say when to use the agent"),
  tools: s.array(
    s
      .string()
      .regex(/^[a-zA-Z0-9_*-]{1,64}$/, 'must be the name of a tool, or a pattern: "files_*"'),
    "must be a list of tool names; leave it out for all of the parent's",
  ),
  maxIterations: s.int().min(1),
  flag: s.boolean(),
};

/** Schema of a {@link SubagentDefinition} given as an option. */
export const definitionSchema: s.Schema<SubagentDefinition> = s.strictObject({
  name: s
    .string()
    .refine(
      isAgentName,
      "must be 1 to 64 letters, digits, _ and -, and begin with a letter or digit",
    ),
  description: definitionFields.description,
  systemPrompt: s.string().optional(),
  model: modelSchema.optional(),
  tools: definitionFields.tools.optional(),
  maxIterations: definitionFields.maxIterations.optional(),
  repeatable: definitionFields.flag.optional(),
  hidden: definitionFields.flag.optional(),
});
