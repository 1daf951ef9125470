import type { PermissionRule, ToolSubject } from "@holdfast/core";
import { commandAllowed, commandForbidden, type FileRules } from "./command/command-rules.js";
import { type CommandLine, inDirectory, readCommand } from "./command/read-command.js";
import type { PathRoots } from "./path/path-forms.js";
import { coversPath, forbidsPath, pathPattern } from "./path/path-pattern.js";
import { isBare } from "./rules/rule.js";
import { coversUrl, forbidsUrl, urlPattern } from "./url-pattern.js";
import { foldCase, matchesWildcard, starPattern } from "./wildcard.js";

/**
 * Answer of a rule that forbids.
 * - `match`: the rule is about the call
 * - `maybe`: it cannot be excluded, because a part of the call is not known
 */
export type Forbids = "match" | "maybe" | "none";

/** Subject whose command line was read, once for all rules. */
export interface ReadSubject extends ToolSubject {
  readonly line?: CommandLine | undefined;
}

/** Reads the command line of a subject. */
export function readSubject(subject: ToolSubject): ReadSubject {
  return subject.kind === "command" ? { ...subject, line: lineOf(subject) } : subject;
}

/** Returns the command line of a subject; where it runs counts as a command that changes the directory first. */
export function lineOf({ line, value, directory = "" }: ReadSubject): CommandLine {
  return line ?? inDirectory(readCommand(value), directory);
}

/** Reports whether a deny or ask rule is about the subject. */
export function forbidsSubject(
  rule: PermissionRule,
  subject: ReadSubject,
  roots: PathRoots,
): Forbids {
  if (isBare(rule)) return "match";
  const pattern = rule.pattern ?? "";
  switch (subject.kind) {
    case "command":
      return commandForbidden(pattern, lineOf(subject));
    case "path":
      return pathForbidden(pattern, subject, roots);
    case "url": {
      const compiled = urlPattern(pattern);
      return compiled === null
        ? textForbidden(pattern, subject.value)
        : forbidsUrl(compiled, subject.value);
    }
    case "text":
      return textForbidden(pattern, subject.value);
  }
}

/** Reports whether allow rules of the tool cover the whole subject. */
export function allowsSubject(
  rules: readonly PermissionRule[],
  subject: ReadSubject,
  roots: PathRoots,
  files: FileRules,
): boolean {
  if (rules.some(isBare)) return true;
  const patterns = rules.map(({ pattern }) => pattern ?? "");
  switch (subject.kind) {
    case "command":
      return commandAllowed(patterns, lineOf(subject), files);
    case "path":
      return patterns.some((pattern) => pathAllowed(pattern, subject, roots));
    case "url":
      return patterns.some((pattern) => {
        const compiled = urlPattern(pattern);
        return compiled !== null && coversUrl(compiled, subject.value);
      });
    case "text":
      return patterns.some((pattern) => matchesWildcard(starPattern(pattern), subject.value));
  }
}

/** Reports whether a pattern covers the path as it was typed and, where it is known, as it really is. */
export function pathAllowed(pattern: string, subject: ToolSubject, roots: PathRoots): boolean {
  const compiled = pathPattern(pattern, roots);
  return (
    compiled !== null &&
    [subject.value, subject.real ?? subject.value].every((path) =>
      coversPath(compiled, path, roots),
    )
  );
}

/** Reports whether a pattern matches the path as it was typed or as it really is. */
function pathForbidden(pattern: string, subject: ToolSubject, roots: PathRoots): Forbids {
  const compiled = pathPattern(pattern, roots);
  // A pattern of which it is not known what it names may be about any path.
  if (compiled === null) return "maybe";
  const matches = [subject.value, subject.real ?? subject.value].some((path) =>
    forbidsPath(compiled, path, roots),
  );
  if (matches) return "match";
  return subject.real === "" || subject.value.includes("\0") ? "maybe" : "none";
}

function textForbidden(pattern: string, value: string): Forbids {
  return matchesWildcard(starPattern(foldCase(pattern)), foldCase(value.trim())) ? "match" : "none";
}
