import type { PermissionRule, ToolSubject } from "@holdfast/core";
import type { FileRules } from "./command/command-rules.js";
import type { CommandLine, OpenedFile } from "./command/read-command.js";
import type { PathRoots } from "./path/path-forms.js";
import { isBare, namesTool } from "./rules/rule.js";
import { type Forbids, forbidsSubject, lineOf, pathAllowed } from "./subject-rules.js";

/** Tools whose path rules also apply to the files that a command opens by redirection. */
export interface FileTools {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /**
   * Real paths by the path in the command; a path that is not here is not known, and no rule allows to write it. Absent when
   * no path is known: then each may be one that a rule forbids.
   */
  readonly realPaths?: ReadonlyMap<string, string> | undefined;
}

/** Returns the paths that a command opens by redirection, whose real paths a guard has to find out. */
export function openedPaths(subject: ToolSubject): readonly string[] {
  return lineOf(subject)
    .files.filter(({ known }) => known)
    .map(({ path }) => path);
}

/** Applies allow rules of writing tools to the files that a command writes. */
export function writeRules(
  allow: readonly PermissionRule[],
  tools: FileTools,
  roots: PathRoots,
): FileRules {
  const rules = allow.filter((rule) => tools.writes.some((name) => namesTool(rule, name)));
  return {
    allowsWrite: (file) => {
      const real = tools.realPaths?.get(file.path);
      if (real === undefined) return false;
      const subject: ToolSubject = { kind: "path", value: file.path, real };
      return rules.some((rule) => isBare(rule) || pathAllowed(rule.pattern ?? "", subject, roots));
    },
  };
}

/** Compares the files that a command opens with a rule that forbids, when it is one of the file tools'. */
export function forbidsFiles(
  rule: PermissionRule,
  line: CommandLine,
  tools: FileTools,
  roots: PathRoots,
): Forbids {
  const isAbout = (file: OpenedFile): boolean =>
    (file.writes ? tools.writes : tools.reads).some((name) => namesTool(rule, name));
  const answers = line.files.filter(isAbout).map(({ path, known }): Forbids => {
    const real = tools.realPaths?.get(path);
    const answer = forbidsSubject(rule, { kind: "path", value: path, real }, roots);
    const isKnown = known && tools.realPaths !== undefined;
    return answer === "none" && !isKnown ? "maybe" : answer;
  });
  return answers.includes("match") ? "match" : answers.includes("maybe") ? "maybe" : "none";
}
