import { isRecord } from "../json/json.js";
import { showKind } from "../plugin-kit/show-value.js";
import type { StateHead } from "./head.js";

/** A part of the head that plugins and the engine write. */
export type SectionName = Exclude<keyof StateHead, "sessionId" | "userId" | "unknown">;

/** Returns the problem of a value, naming its place and what is accepted there, never its contents; or null. */
type Check = (value: unknown, path: string) => string | null;

const text: Check = accepts("a string", (value) => typeof value === "string");
const flag: Check = accepts("true or false", (value) => typeof value === "boolean");
const object: Check = accepts("an object", isRecord);
const openState: Check = accepts(
  '"pending", "asking", "allowed" or "started"',
  (value) =>
    value === "pending" || value === "asking" || value === "allowed" || value === "started",
);

const question: Check = withFields({
  message: text,
  schema: absentOr(object),
  url: absentOr(text),
});
const openQuestion: Check = withFields({
  asked: absentOr(question),
  reason: absentOr(text),
  answers: listOf(withFields({ question, action: text, content: absentOr(object) })),
});

const rule: Check = withFields({ tool: text, pattern: absentOr(text), source: absentOr(text) });
const task: Check = withFields({ content: text, status: text });
const runRecord: Check = withFields({
  callId: text,
  messageId: text,
  reason: text,
  runId: absentOr(text),
  inputHash: absentOr(text),
  lastId: absentOr(text),
  at: absentOr(text),
  inputIds: absentOr(listOf(text)),
});

const undo: Check = listOf(
  accepts("a difference", function isDifference(value): boolean {
    if (!Array.isArray(value) || typeof value[0] !== "string") return false;
    return value[2] === undefined || (Array.isArray(value[1]) && value[1].every(isDifference));
  }),
);
const unfinishedRun: Check = withFields({
  callId: text,
  messageIds: listOf(text),
  before: object,
  undo: absentOr(undo),
  runId: absentOr(text),
  inputHash: absentOr(text),
  inputIds: absentOr(listOf(text)),
  input: absentOr(object),
  lastId: absentOr(text),
});

/**
 * Checks of the head's sections: what passes here can be stored and loaded again. Fields and words of a newer release pass,
 * so that releases can share a store.
 */
const sections: { readonly [S in SectionName]: Check } = {
  permissionContext: withFields({
    mode: text,
    isModeSet: absentOr(flag),
    allow: listOf(rule),
    deny: listOf(rule),
    ask: listOf(rule),
    workingDirectories: listOf(text),
  }),
  planModeContext: withFields({
    active: flag,
    planFile: nullOr(text),
    enteredBy: absentOr(text),
  }),
  tasksContext: withFields({ tasks: listOf(task) }),
  toolContext: withFields({ activatedGroups: nullOr(listOf(text)) }),
  extensions: object,
  openCalls: valuesOf(openState),
  questions: valuesOf(openQuestion),
  shutdownInterrupted: flag,
  finishedCalls: listOf(runRecord),
  unfinishedRun: nullOr((value, path) =>
    // Either is enough.
    unfinishedRun(isRecord(value) && value["undo"] ? { before: {}, ...value } : value, path),
  ),
  lastEnds: listOf(text),
  resumableRun: nullOr(runRecord),
};

/** Sections that tools, hooks, guards and programs write. The engine keeps the others. */
export const openSections: readonly SectionName[] = [
  "permissionContext",
  "planModeContext",
  "tasksContext",
  "toolContext",
  "extensions",
  "openCalls",
  "questions",
  "shutdownInterrupted",
];

/** Names of all sections. */
export const sectionNames: readonly SectionName[] = Object.keys(sections) as SectionName[];

/** Tells whether a key of a document is the name of a section. */
export function isSectionName(key: string): key is SectionName {
  return Object.hasOwn(sections, key);
}

/** Returns the problem of a value that should be a section, or null. */
export function sectionProblem(name: SectionName, value: unknown): string | null {
  return sections[name](value, name);
}

/** Returns the problem of a value that should be a list of permission rules, or null. */
export function rulesProblem(value: unknown, path: string): string | null {
  return listOf(rule)(value, path);
}

function accepts(wanted: string, fits: (value: unknown) => boolean): Check {
  return (value, path) => (fits(value) ? null : `${path} must be ${wanted}, got ${kindOf(value)}`);
}

function withFields(fields: Readonly<Record<string, Check>>): Check {
  const entries = Object.entries(fields);
  return (value, path) => {
    if (!isRecord(value)) return object(value, path);
    for (const [name, check] of entries) {
      const problem = check(value[name], `${path}.${name}`);
      if (problem !== null) return problem;
    }
    return null;
  };
}

function listOf(item: Check): Check {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path} must be a list, got ${kindOf(value)}`;
    for (let index = 0; index < value.length; index++) {
      const problem = item(value[index], `${path}[${index}]`);
      if (problem !== null) return problem;
    }
    return null;
  };
}

function valuesOf(item: Check): Check {
  return (value, path) => {
    if (!isRecord(value)) return object(value, path);
    // Its keys are contents.
    for (const one of Object.values(value)) {
      const problem = item(one, `${path}[…]`);
      if (problem !== null) return problem;
    }
    return null;
  };
}

function nullOr(check: Check): Check {
  return (value, path) => {
    const problem = value === null ? null : check(value, path);
    return problem?.startsWith(`${path} must be`)
      ? problem.replace(", got", " or null, got")
      : problem;
  };
}

function absentOr(check: Check): Check {
  return (value, path) => (value === undefined ? null : check(value, path));
}

/** Returns the kind of a value in words, never its contents. */
export function kindOf(value: unknown): string {
  return value === undefined ? "nothing" : showKind(value);
}
