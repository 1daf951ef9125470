import type { PermissionRule } from "@holdfast/core";
import { leadsAnywhere } from "../path/path-pattern.js";
import { matchesWildcard, starPattern } from "../wildcard.js";

/** Result of reading a rule: the rule, or a sentence that says what is wrong with it. */
export type ParsedRule = { readonly rule: PermissionRule } | { readonly problem: string };

/** Characters a specifier may have; the time a match takes grows with them. */
const maxPatternChars = 2_000;

const form = 'write it as "tool" or "tool(specifier)"';

/**
 * Reads a rule in the form `tool` or `tool(specifier)`, where `tool` may hold `*`.
 * `tool(*)` is the same as `tool`.
 */
export function parseRule(text: string, source?: string): ParsedRule {
  const open = text.indexOf("(");
  const tool = (open === -1 ? text : text.slice(0, open)).trim();
  if (tool === "") return { problem: `rule ${show(text)} names no tool; ${form}` };
  if (/[\s()]/.test(tool)) return { problem: `rule ${show(text)} is not a rule; ${form}` };
  const from = source === undefined ? {} : { source };
  if (open === -1) return { rule: { tool, ...from } };
  const end = text.trimEnd();
  if (!end.endsWith(")"))
    return { problem: `rule ${show(text)} has no closing parenthesis; ${form}` };
  const pattern = end.slice(open + 1, -1).trim();
  if (pattern === "*") return { rule: { tool, ...from } };
  const problem = patternProblem(pattern);
  return problem === null
    ? { rule: { tool, pattern, ...from } }
    : { problem: `rule ${show(text)} ${problem}` };
}

/** Says what is wrong with a specifier; null when nothing is. */
export function patternProblem(pattern: string): string | null {
  if (pattern.trim() === "" || pattern.trim() === ":*")
    return "has an empty specifier; leave out the parentheses to mean every call of the tool";
  if (pattern.length > maxPatternChars)
    return `has a specifier of ${pattern.length} characters; at most ${maxPatternChars} are allowed`;
  if (leadsAnywhere(pattern))
    return 'has ".." behind "**", which may be any directory; name the directory instead';
  return /[\p{Cc}\uFFFE\uFFFF]/u.test(pattern)
    ? "has a specifier with a control character; write it without"
    : null;
}

/** Writes a rule in the form that {@link parseRule} reads. */
export function formatRule(rule: PermissionRule): string {
  return isBare(rule) ? rule.tool : `${rule.tool}(${rule.pattern})`;
}

/** Reports whether the rule is about every call of its tool. */
export function isBare(rule: PermissionRule): boolean {
  return rule.pattern === undefined || rule.pattern === "*";
}

/** Reports whether the rule is about the tool with this name. */
export function namesTool(rule: PermissionRule, tool: string): boolean {
  return matchesWildcard(starPattern(rule.tool), tool);
}

function show(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
