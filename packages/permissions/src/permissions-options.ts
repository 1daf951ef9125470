import { ConfigurationError, type PermissionMode, type PermissionRule } from "@holdfast/core";
import { parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { parseRule } from "./rules/rule.js";

/** Rules by what they decide, each as text: `tool`, `tool(specifier)`; `*` in a tool's name stands for anything. */
export interface PermissionRules {
  /** Calls that run without asking. */
  readonly allow?: readonly string[] | undefined;
  /** Calls that ask a person, whatever else allows them. */
  readonly ask?: readonly string[] | undefined;
  /** Calls that never run. */
  readonly deny?: readonly string[] | undefined;
}

/** Options of `permissions`. */
export interface PermissionsOptions {
  /** Mode of sessions for which none was set with `agent.setPermissionMode`. @default "default" */
  readonly mode?: PermissionMode | undefined;
  /** @default none */
  readonly rules?: PermissionRules | undefined;
  /** Directories in which the mode `accept_edits` lets tools write; those of a session come on top. @default ["."] */
  readonly workingDirectories?: readonly string[] | undefined;
  /**
   * Directory in which tools and commands start, where it is the same for all users; paths are resolved in it. Without it a
   * command that opens files by redirection asks wherever a rule forbids some file. @default not known; tools that do not
   * resolve their paths themselves start in the current directory
   */
  readonly root?: string | undefined;
}

/** Options with their defaults, and the rules in the form in which they are stored. */
export interface PermissionSettings {
  readonly mode: PermissionMode;
  readonly rules: {
    readonly [K in keyof PermissionRules]-?: readonly PermissionRule[];
  };
  readonly workingDirectories: readonly string[];
  readonly root: string | undefined;
}

const texts = s.array(s.string().min(1)).default([]);
const schema = s.strictObject({
  mode: s.enum(["default", "accept_edits", "explore", "bypass", "dont_ask"]).default("default"),
  rules: s.strictObject({ allow: texts, ask: texts, deny: texts }).prefault({}),
  workingDirectories: s.array(s.string().min(1)).default(["."]),
  root: s.string().min(1).optional(),
});

/** @throws ConfigurationError with every wrong option and every rule that cannot be read */
export function readPermissionsOptions(options: PermissionsOptions): PermissionSettings {
  const { mode, rules, workingDirectories, root } = parseOptions(schema, options, "permissions");
  const problems: string[] = [];
  const read = (name: keyof PermissionRules): readonly PermissionRule[] =>
    rules[name].flatMap((text) => {
      const parsed = parseRule(text);
      if ("rule" in parsed) return [parsed.rule];
      problems.push(`permissions: rules.${name}: ${parsed.problem}`);
      return [];
    });
  const lists = { allow: read("allow"), ask: read("ask"), deny: read("deny") };
  if (problems.length > 0) throw new ConfigurationError(problems);
  return { mode, rules: lists, workingDirectories, root };
}
