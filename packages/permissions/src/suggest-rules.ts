import type { PermissionRule, SuggestedRule } from "@holdfast/core";
import { commandPattern } from "./command/command-pattern.js";
import { isCovered } from "./command/command-rules.js";
import type { CommandLine, SimpleCommand } from "./command/read-command.js";
import { isBare, namesTool, patternProblem } from "./rules/rule.js";
import { lineOf, type ReadSubject } from "./subject-rules.js";

/** Rules offered at most; a person does not read more. */
const maxSuggestions = 5;

const maxTextChars = 60;

/** Call that rules are suggested for. */
export interface SuggestionInput {
  readonly tool: { readonly name: string; readonly hasSubject: boolean };
  readonly subjects: readonly ReadSubject[];
  readonly rules: { readonly allow: readonly PermissionRule[] };
}

/**
 * Returns the narrowest rules that would have allowed the call, one for each simple command that no rule covers yet.
 *
 * @param isEnough - reports whether the call runs with these allow rules
 * @returns an empty list when there are no such rules, or more than a person would read
 */
export function suggestRules(
  input: SuggestionInput,
  isEnough: (allow: readonly PermissionRule[]) => boolean,
): readonly SuggestedRule[] {
  const { tool, subjects, rules } = input;
  const wanted = tool.hasSubject
    ? subjects.flatMap((subject) => subjectPatterns(subject, input))
    : [{ pattern: undefined, broad: true, shown: tool.name }];
  const unique = [...new Map(wanted.map((entry) => [entry.pattern, entry])).values()];
  const suggestions = unique.map(
    ({ pattern, broad, shown }): SuggestedRule => ({
      tool: tool.name,
      ...(pattern === undefined ? {} : { pattern }),
      text: `Always allow ${shortened(shown)}`,
      ...(broad ? { broad } : {}),
    }),
  );
  const fits = suggestions.every(
    ({ pattern }) => pattern === undefined || patternProblem(pattern) === null,
  );
  const isOffered = suggestions.length > 0 && suggestions.length <= maxSuggestions && fits;
  return isOffered && isEnough([...rules.allow, ...suggestions]) ? suggestions : [];
}

interface WantedRule {
  readonly pattern: string | undefined;
  readonly broad: boolean;
  readonly shown: string;
}

function subjectPatterns(subject: ReadSubject, input: SuggestionInput): readonly WantedRule[] {
  switch (subject.kind) {
    case "command":
      return commandRules(lineOf(subject), input);
    case "path": {
      const path = escaped(subject.value).replaceAll(/[?[\]]/g, "\\$&");
      const pattern = subject.value.startsWith("/") ? `/${path}` : `./${path.replace(/^\.\//, "")}`;
      return [{ pattern, broad: false, shown: subject.value }];
    }
    case "url": {
      const host = URL.canParse(subject.value) ? new URL(subject.value).host : "";
      return host === "" ? [] : [{ pattern: `domain:${host}`, broad: true, shown: host }];
    }
    case "text":
      return [{ pattern: escaped(subject.value), broad: false, shown: subject.value }];
  }
}

function commandRules(
  { commands }: CommandLine,
  { rules, tool }: SuggestionInput,
): readonly WantedRule[] {
  const patterns = rules.allow
    .filter((rule) => !isBare(rule) && namesTool(rule, tool.name))
    .map(({ pattern = "" }) => commandPattern(pattern));
  // A rule for an expansion would have to allow every value, and `*` spans words: that is not this call.
  if (commands.some(({ gaps }) => gaps !== "none")) return [];
  return commands
    .filter((command) => !command.isShell && !isCovered(patterns, command))
    .map(commandRule);
}

function commandRule(command: SimpleCommand): WantedRule {
  const pattern = command.words.map(patternWord).join(" ");
  // Without the wrappers and variables that were removed it is another command.
  const broad = command.forms.length > 1 || command.hasVariables;
  return { pattern, broad, shown: command.words.join(" ") };
}

/** Writes a word so that the pattern matches it alone. */
function patternWord(word: string): string {
  const text = word.replaceAll(/[\\*"']/g, "\\$&");
  return word === "" || /\s/.test(word) ? `'${text}'` : text;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\*]/g, "\\$&");
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return `\`${line.length > maxTextChars ? `${line.slice(0, maxTextChars)}…` : line}\``;
}
