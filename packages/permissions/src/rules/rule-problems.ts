import type { PermissionRule } from "@holdfast/core";
import { nearestName } from "@holdfast/core/plugin-kit";
import { formatRule, isBare, namesTool, patternProblem } from "./rule.js";

/** Tool of the agent, as far as rules are concerned. */
export interface RuledTool {
  readonly name: string;
  /** The tool declares what a specifier is compared with. */
  readonly hasSubject: boolean;
}

/** Options of {@link ruleProblems}. */
export interface RuleProblemsOptions {
  /** More tools may come, such as those of an MCP server; a rule about one of them holds once it is there. @default false */
  readonly mayGrow?: boolean | undefined;
}

/**
 * Returns a sentence about each rule that could never have an effect: a deny rule that is silently void would let
 * through what it names.
 */
export function ruleProblems(
  rules: readonly PermissionRule[],
  tools: readonly RuledTool[],
  { mayGrow = false }: RuleProblemsOptions = {},
): readonly string[] {
  return rules.flatMap((rule) => {
    const problem = problemOf(rule, tools, mayGrow);
    if (problem === null) return [];
    const from = rule.source === undefined ? "" : ` (${rule.source})`;
    return [`rule ${JSON.stringify(formatRule(rule))}${from} ${problem}`];
  });
}

function problemOf(
  rule: PermissionRule,
  tools: readonly RuledTool[],
  mayGrow: boolean,
): string | null {
  const named = tools.filter(({ name }) => namesTool(rule, name));
  if (named.length === 0 && mayGrow)
    return isBare(rule) ? null : patternProblem(rule.pattern ?? "");
  if (named.length === 0)
    return rule.tool.includes("*") ? matchesNone(tools) : unknown(rule, tools);
  if (isBare(rule)) return null;
  if (!named.some(({ hasSubject }) => hasSubject))
    return `has a specifier, but ${named.map(({ name }) => name).join(", ")} declares no subject to compare it with; leave out the specifier`;
  return patternProblem(rule.pattern ?? "");
}

function matchesNone(tools: readonly RuledTool[]): string {
  return `matches no tool of the agent; ${listed(tools)}`;
}

function unknown(rule: PermissionRule, tools: readonly RuledTool[]): string {
  const nearest = nearestName(
    rule.tool,
    tools.map(({ name }) => name),
  );
  const advice = nearest === undefined ? listed(tools) : `did you mean ${nearest}?`;
  return `names a tool the agent does not have; ${advice}`;
}

function listed(tools: readonly RuledTool[]): string {
  return tools.length === 0
    ? "it has no tools"
    : `it has ${tools.map(({ name }) => name).join(", ")}`;
}
