import type { Model } from "@holdfast/core";
import { isRecord, nearestName, showValue, unknownNames } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { LineCounter, parseDocument } from "yaml";
import { definitionFields, type SubagentDefinition } from "./subagent-definition.js";

/** Definition that a file holds, or everything that is wrong with the file, in words. */
export type ParsedDefinition =
  | { readonly definition: SubagentDefinition }
  | { readonly problems: readonly string[] };

const MAX_FRONT_MATTER_CHARS = 16_384;

/** Fields of the format that mean nothing here; ignoring them would make an agent that is not the one described. */
const unsupported: Readonly<Record<string, string>> = {
  mode: "every agent of this directory is a subagent; remove it",
  temperature: "make a model with this setting, pass it in models and name it in model",
  top_p: "make a model with this setting, pass it in models and name it in model",
  workspace: "remove it",
  expose_to_user: "remove it",
};

const { description, tools, maxIterations, flag } = definitionFields;

const fields = s.object({
  // Checked against the name of the file, which is the one that counts.
  name: s.string().optional(),
  description: s.preprocess(trimmed, description),
  model: s.string().min(1).optional(),
  tools: s.preprocess(separated, tools).optional(),
  steps: maxIterations.optional(),
  maxIterations: maxIterations.optional(),
  repeatable: flag.optional(),
  hidden: flag.optional(),
});

/** Parses the file of the agent `name`: YAML between two lines `---`, then the system prompt. */
export function parseDefinition(
  name: string,
  text: string,
  models: Readonly<Record<string, Model>>,
): ParsedDefinition {
  const lines = text.split(/\r?\n/);
  if (lines[0]?.trimEnd() !== "---") return wrong("it does not begin with a line ---");
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---");
  if (end < 0) return wrong("no second line --- ends its front matter");
  const front = parseYaml(lines.slice(1, end).join("\n"));
  if ("problem" in front) return wrong(front.problem);
  const { data, error } = fields.safeParse(front.fields);
  const problems = [
    ...keyProblems(front.fields),
    ...(error?.issues.map(issueText) ?? []),
    ...fieldProblems(name, front.fields, models),
  ];
  if (!data || problems.length > 0) return { problems };
  const systemPrompt = lines
    .slice(end + 1)
    .join("\n")
    .trim();
  const steps = data.steps ?? data.maxIterations;
  return {
    definition: {
      name,
      description: data.description,
      ...(systemPrompt !== "" && { systemPrompt }),
      ...(data.model !== undefined && { model: models[data.model] }),
      ...(data.tools !== undefined && { tools: data.tools }),
      ...(steps !== undefined && { maxIterations: steps }),
      ...(data.repeatable !== undefined && { repeatable: data.repeatable }),
      ...(data.hidden !== undefined && { hidden: data.hidden }),
    },
  };
}

type FrontMatter =
  | { readonly fields: Readonly<Record<string, unknown>> }
  | { readonly problem: string };

function parseYaml(text: string): FrontMatter {
  if (text.length > MAX_FRONT_MATTER_CHARS)
    return { problem: `its front matter has more than ${MAX_FRONT_MATTER_CHARS} characters` };
  const lineCounter = new LineCounter();
  // Pretty errors quote the file. With the level "silent", further documents would be dropped without an error.
  const document = parseDocument(text, { prettyErrors: false, logLevel: "error", lineCounter });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) {
    const line = lineCounter.linePos(problem.pos[0]).line + 1;
    return { problem: `its front matter is not valid YAML: line ${line}: ${problem.message}` };
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: 0 }) ?? {};
    return isRecord(value) ? { fields: value } : { problem: "its front matter has no fields" };
  } catch {
    return {
      problem: "its front matter has a YAML alias; write a pattern that begins with * in quotes",
    };
  }
}

function keyProblems(front: Readonly<Record<string, unknown>>): readonly string[] {
  const served = Object.keys(fields.shape);
  const others = Object.keys(front).filter((key) => !Object.hasOwn(unsupported, key));
  const strange = Object.fromEntries(others.map((key) => [key, true]));
  return [
    ...Object.entries(unsupported)
      .filter(([key]) => Object.hasOwn(front, key))
      .map(([key, advice]) => `${key} is not supported: ${advice}`),
    ...unknownNames(strange, served, "field"),
  ];
}

function fieldProblems(
  file: string,
  { name, model, steps, maxIterations }: Readonly<Record<string, unknown>>,
  models: Readonly<Record<string, Model>>,
): readonly string[] {
  const problems: string[] = [];
  if (typeof name === "string" && name !== file)
    problems.push(
      `name is ${showValue(name)}, but the name of the file makes it ${showValue(file)}`,
    );
  if (steps !== undefined && maxIterations !== undefined)
    problems.push("steps and maxIterations mean the same; give one of them");
  if (typeof model === "string" && model !== "" && !Object.hasOwn(models, model))
    problems.push(`model ${showValue(model)} is not one of models: ${knownModels(model, models)}`);
  return problems;
}

function knownModels(model: string, models: Readonly<Record<string, Model>>): string {
  const known = Object.keys(models);
  if (known.length === 0) return "there are none, pass them to subagents({ models })";
  const nearest = nearestName(model, known);
  const all = `there are ${known.join(", ")}`;
  return nearest === undefined ? all : `${all}; did you mean ${nearest}?`;
}

function issueText({ path, input, message }: s.SchemaIssue): string {
  const field = path.join(".");
  return input === undefined
    ? `${field} is missing`
    : `${field} is ${showValue(input)}: ${message}`;
}

function trimmed(value: unknown): unknown {
  return typeof value === "string" ? value.trim() : value;
}

/** Returns the list that a text with commas means. */
function separated(value: unknown): unknown {
  return typeof value === "string" ? value.split(",").map((item) => item.trim()) : value;
}

function wrong(problem: string): ParsedDefinition {
  return { problems: [problem] };
}
