import type { PermissionMode, ToolDecision, ToolSubject } from "@holdfast/core";
import { type DecisionInput, decide } from "../src/decide.js";

/** Rules as their specifiers, by list. */
export interface Specifiers {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
}

/** Returns the input of a decision about a tool called `execute` with these subjects. */
export function inputOf(
  subjects: ToolSubject | readonly ToolSubject[],
  { allow = [], ask = [], deny = [] }: Specifiers,
  mode: PermissionMode = "default",
): DecisionInput {
  const rules = (list: readonly string[]) =>
    list.map((pattern) => (pattern === "*" ? { tool: "execute" } : { tool: "execute", pattern }));
  return {
    mode,
    rules: { allow: rules(allow), ask: rules(ask), deny: rules(deny) },
    tool: { name: "execute", readOnly: false, hasSubject: true },
    subjects: "kind" in subjects ? [subjects] : subjects,
    root: "/srv/app",
    home: "/home/ada",
  };
}

/** Decides about a command line. */
export function command(value: string, rules: Specifiers, mode?: PermissionMode): ToolDecision {
  return decide(inputOf({ kind: "command", value }, rules, mode));
}
