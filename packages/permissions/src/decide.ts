import type { PermissionMode, PermissionRule, ToolDecision, ToolSubject } from "@holdfast/core";
import { unknownPart } from "./command/command-rules.js";
import { type FileTools, forbidsFiles, writeRules } from "./opened-files.js";
import type { PathRoots } from "./path/path-forms.js";
import { formatRule, isBare, namesTool } from "./rules/rule.js";
import {
  allowsSubject,
  type Forbids,
  forbidsSubject,
  lineOf,
  pathAllowed,
  type ReadSubject,
  readSubject,
} from "./subject-rules.js";
import { suggestRules } from "./suggest-rules.js";

/** Everything a decision about one tool call depends on. */
export interface DecisionInput extends PathRoots {
  readonly mode: PermissionMode;
  readonly rules: {
    readonly allow: readonly PermissionRule[];
    readonly ask: readonly PermissionRule[];
    readonly deny: readonly PermissionRule[];
  };
  /** Directories in which `accept_edits` lets tools work; relative ones begin at the root of the workspace. */
  readonly workingDirectories?: readonly string[] | undefined;
  readonly tool: {
    readonly name: string;
    readonly readOnly: boolean;
    readonly hasSubject: boolean;
  };
  /** Objects that the call acts on. */
  readonly subjects: readonly ToolSubject[];
  /** Answer of the tool itself; null when it has none. */
  readonly toolCheck?: "allow" | "ask" | null | undefined;
  /** Tools whose path rules apply to files that commands open by redirection. */
  readonly fileTools?: FileTools | undefined;
}

const noFileTools: FileTools = { reads: [], writes: [] };

/**
 * Decides about a tool call: deny rules, ask rules, the mode, the tool's own check, allow rules, and at last what the
 * mode does by default. Pure: the same input always has the same answer.
 */
export function decide(input: DecisionInput): ToolDecision {
  const decision = decided({ ...input, subjects: input.subjects.map(readSubject) });
  if (decision.decision !== "ask" || input.mode !== "dont_ask") return decision;
  return { decision: "deny", reason: `${decision.reason}; nobody is asked in the mode dont_ask` };
}

/** Input whose command lines were read. */
interface ReadInput extends DecisionInput {
  readonly subjects: readonly ReadSubject[];
}

function decided(input: ReadInput): ToolDecision {
  const { mode, rules, tool } = input;
  const denied = strictest(rules.deny, input);
  if (denied?.answer === "match")
    return { decision: "deny", reason: `${tool.name} is denied by the rule ${named(denied.rule)}` };
  if (mode === "explore" && !tool.readOnly)
    return {
      decision: "deny",
      reason: `${tool.name} is not read-only, and the mode explore only reads`,
    };
  const asked = strictest(rules.ask, input);
  if (asked?.answer === "match")
    return {
      decision: "ask",
      reason: `the rule ${named(asked.rule)} asks before ${tool.name} runs`,
    };
  const doubted = denied ?? asked;
  if (doubted !== null) return { decision: "ask", reason: doubt(doubted.rule, input) };
  if (mode === "bypass") return { decision: "allow" };
  const suggestions = suggestRules(input, (allow) =>
    isAllowed({ ...input, rules: { ...rules, allow } }),
  );
  const offered = suggestions.length > 0 && { suggestions };
  if (input.toolCheck === "ask")
    return { decision: "ask", reason: `${tool.name} asks before it runs`, ...offered };
  if (input.toolCheck === "allow" || isAllowed(input)) return { decision: "allow" };
  if (tool.readOnly || (mode === "accept_edits" && isEdit(input))) return { decision: "allow" };
  return { decision: "ask", reason: unallowed(input), ...offered };
}

interface Answer {
  readonly rule: PermissionRule;
  readonly answer: Exclude<Forbids, "none">;
}

/** Returns the first rule that matches, else the first that may. */
function strictest(rules: readonly PermissionRule[], input: ReadInput): Answer | null {
  let doubted: Answer | null = null;
  for (const rule of rules) {
    const answer = answerOf(rule, input);
    if (answer === "match") return { rule, answer };
    if (answer === "maybe") doubted ??= { rule, answer };
  }
  return doubted;
}

function answerOf(rule: PermissionRule, input: ReadInput): Forbids {
  const { tool, subjects, fileTools = noFileTools } = input;
  const isNamed = namesTool(rule, tool.name);
  if (isNamed && isBare(rule)) return "match";
  const answers = subjects.flatMap((subject) => [
    isNamed ? forbidsSubject(rule, subject, input) : "none",
    subject.kind === "command" ? forbidsFiles(rule, lineOf(subject), fileTools, input) : "none",
  ]);
  if (answers.includes("match")) return "match";
  // A call whose subject the tool does not tell may be about anything. A rule for every tool is about those that tell it.
  const isUntold = isNamed && subjects.length === 0 && (tool.hasSubject || rule.tool !== "*");
  return isUntold || answers.includes("maybe") ? "maybe" : "none";
}

function isAllowed(input: ReadInput): boolean {
  const { rules, tool, subjects, fileTools = noFileTools } = input;
  const own = rules.allow.filter((rule) => namesTool(rule, tool.name));
  if (own.some(isBare)) return true;
  const files = writeRules(rules.allow, fileTools, input);
  return (
    subjects.length > 0 && subjects.every((subject) => allowsSubject(own, subject, input, files))
  );
}

/** Reports whether the call only touches files inside a working directory. */
function isEdit({ subjects, workingDirectories = [], root, home }: DecisionInput): boolean {
  const inside = (subject: ToolSubject, directory: string): boolean =>
    pathAllowed(directoryPattern(directory), subject, { root, home });
  return (
    subjects.length > 0 &&
    subjects.every(
      (subject) =>
        subject.kind === "path" &&
        workingDirectories.some((directory) => inside(subject, directory)),
    )
  );
}

/** Writes a directory as a pattern: its name may hold wildcards, which mean themselves. */
function directoryPattern(directory: string): string {
  const escaped = directory.replaceAll(/[\\*?[\]]/g, "\\$&");
  if (directory.startsWith("/")) return `/${escaped}`;
  return /^~(?:\/|$)/.test(directory) ? escaped : `./${escaped}`;
}

function named(rule: PermissionRule): string {
  return rule.source === undefined ? formatRule(rule) : `${formatRule(rule)} (${rule.source})`;
}

function doubt(rule: PermissionRule, { tool, subjects }: ReadInput): string {
  const part = firstUnknown(subjects);
  const why = part === null ? "the call could be one that it names" : `the command holds ${part}`;
  return `the rule ${named(rule)} may forbid this call of ${tool.name}: ${why}`;
}

function unallowed({ tool, subjects }: ReadInput): string {
  const part = firstUnknown(subjects);
  return part === null
    ? `no rule allows this call of ${tool.name}`
    : `no rule can allow this call of ${tool.name}: the command holds ${part}`;
}

function firstUnknown(subjects: readonly ReadSubject[]): string | null {
  for (const subject of subjects) {
    const part = subject.kind === "command" ? unknownPart(lineOf(subject)) : null;
    if (part !== null) return part;
  }
  return null;
}
