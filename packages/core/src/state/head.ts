import { InvalidInputError, StateCorruptError } from "../errors/index.js";
import {
  isDeeperThan,
  isRecord,
  type JsonObject,
  MAX_JSON_DEPTH,
  toJsonValue,
} from "../json/json.js";
import { checkId } from "../slot/slot.js";
import {
  migrateDocument,
  STATE_FORMAT,
  STATE_SCHEMA_VERSION,
  UNDO_SCHEMA_VERSION,
} from "./migrate-document.js";
import {
  isSectionName,
  openSections,
  type SectionName,
  sectionNames,
  sectionProblem,
} from "./section-checks.js";
import type {
  Extensions,
  OpenCalls,
  OpenQuestions,
  PermissionContext,
  PlanModeContext,
  RunRecord,
  TasksContext,
  ToolContext,
  UnfinishedRun,
} from "./sections.js";

/** Everything of a state but its messages. */
export interface StateHead {
  sessionId: string;
  userId: string | null;
  permissionContext: PermissionContext;
  planModeContext: PlanModeContext;
  tasksContext: TasksContext;
  toolContext: ToolContext;
  extensions: Extensions;
  openCalls: OpenCalls;
  /** Questions of open calls; stored when there are any. */
  questions: OpenQuestions;
  shutdownInterrupted: boolean;
  /** Records of calls, newest last, where the store keeps none beside the head. */
  finishedCalls: readonly RunRecord[];
  unfinishedRun: UnfinishedRun | null;
  /**
   * Revisions that ends in the log named and that this state goes back to, since the last end: what proves those ends where
   * log and state are not saved together.
   */
  lastEnds: readonly string[];
  /** The last run, when it ended without a reply and may be continued. */
  resumableRun: RunRecord | null;
  /** Fields of a newer release, kept as they are. */
  unknown: JsonObject;
}

/** A head with nothing in it. */
export function emptyHead(sessionId: string, userId: string | null): StateHead {
  return {
    sessionId,
    userId,
    permissionContext: {
      mode: "default",
      allow: [],
      deny: [],
      ask: [],
      workingDirectories: [],
    },
    planModeContext: { active: false, planFile: null },
    tasksContext: { tasks: [] },
    toolContext: { activatedGroups: null },
    extensions: {},
    openCalls: {},
    questions: {},
    shutdownInterrupted: false,
    finishedCalls: [],
    unfinishedRun: null,
    lastEnds: [],
    resumableRun: null,
    unknown: {},
  };
}

/**
 * Values of {@link MAX_JSON_DEPTH} levels sit inside the head, and a second time, deeper, in what an unfinished run has
 * changed of it. What was accepted once must load again.
 */
const maxHeadDepth = MAX_JSON_DEPTH + 8;
/** Deepest nesting of a section: a plugin's value of {@link MAX_JSON_DEPTH} levels, with its version and its name. */
const maxSectionDepth = MAX_JSON_DEPTH + 2;

/**
 * Returns frozen copies of the sections that tools, hooks, guards and programs write.
 *
 * @throws InvalidInputError when one does not have its form or cannot be kept as JSON, so that no state is saved that would not
 * load
 */
export function writeSections(head: StateHead): JsonObject {
  const open: Partial<Record<SectionName, unknown>> = {};
  for (const name of openSections) open[name] = head[name];
  open.questions = questionsOf(head);
  if (open.questions === undefined) delete open.questions;
  const written = toJsonValue(open, "state", maxHeadDepth) as JsonObject;
  for (const name of Object.keys(open)) refuseBad(name as SectionName, written[name]);
  return written;
}

/** Returns the questions of calls that are still open; undefined when there are none, as in a state of an earlier release. */
function questionsOf({ openCalls, questions }: StateHead): unknown {
  if (!isRecord(questions) || !isRecord(openCalls)) return questions;
  const open = Object.entries(questions).filter(([id]) => Object.hasOwn(openCalls, id));
  return open.length === 0 ? undefined : Object.fromEntries(open);
}

/**
 * The head as it is stored: a frozen copy.
 *
 * @param sections - what {@link writeSections} returned, if it was called before
 * @throws InvalidInputError as {@link writeSections}
 */
export function writeHead(head: StateHead, sections: JsonObject = writeSections(head)): JsonObject {
  const { sessionId, userId, finishedCalls, unfinishedRun, lastEnds, resumableRun } = head;
  const ofEngine = { finishedCalls, unfinishedRun, lastEnds, resumableRun };
  return Object.freeze({
    format: STATE_FORMAT,
    schemaVersion: STATE_SCHEMA_VERSION,
    minReader: unfinishedRun?.undo ? UNDO_SCHEMA_VERSION : 1,
    ...(toJsonValue(head.unknown, "state", maxHeadDepth) as JsonObject),
    ...{ sessionId, userId },
    ...sections,
    ...(toJsonValue(ofEngine, "state", maxHeadDepth) as JsonObject),
  });
}

/**
 * Returns a copy of a value that is to become a section.
 *
 * @throws InvalidInputError that names the section, the field and what is accepted
 */
export function checkedSection<S extends SectionName>(name: S, value: unknown): StateHead[S] {
  const copy = toJsonValue(value, `state.${name}`, maxSectionDepth);
  refuseBad(name, copy);
  // A copy that can be edited in place.
  return JSON.parse(JSON.stringify(copy)) as StateHead[S];
}

function refuseBad(name: SectionName, value: unknown): void {
  const problem = isDeeperThan(value, maxSectionDepth)
    ? `${name} is nested deeper than ${MAX_JSON_DEPTH} levels`
    : sectionProblem(name, value);
  if (problem !== null) throw new InvalidInputError(`state.${problem}`);
}

/** Reading of a damaged state as far as it goes. */
export interface Salvage {
  /** Ids that the state is stored under. */
  readonly slot: { readonly sessionId: string; readonly userId: string | null };
  /** Receives what could not be read, in words. */
  readonly damage: string[];
}

/**
 * The head in a stored document.
 *
 * @param salvage - leaves out what cannot be read, instead of throwing
 * @throws StateCorruptError | StateTooNewError
 */
export function readHead(value: unknown, salvage?: Salvage): StateHead {
  const damaged = (problem: string): void => {
    if (!salvage) throw new StateCorruptError(`the state document's ${problem}`);
    salvage.damage.push(problem);
  };
  const isTooDeep = isDeeperThan(value, maxHeadDepth);
  if (isTooDeep && !salvage)
    throw new StateCorruptError(
      `the state document is nested deeper than ${MAX_JSON_DEPTH} levels`,
    );
  const document = currentDocument(value, salvage);
  const head = emptyHead(
    readId(document["sessionId"], "sessionId", damaged) ?? String(salvage?.slot.sessionId),
    document["userId"] === null
      ? null
      : (readId(document["userId"], "userId", damaged) ?? salvage?.slot.userId ?? null),
  );
  // Versions of a newer writer go back as they came, else its next read would migrate twice.
  const isNewer = Number(document["schemaVersion"]) > STATE_SCHEMA_VERSION;
  const unknown: Record<string, unknown> = {};
  for (const key of Object.keys(document)) {
    if (key === "format" || key === "context") continue;
    if (!isNewer && (key === "schemaVersion" || key === "minReader")) continue;
    if (isTooDeep && isDeeperThan(document[key], maxSectionDepth))
      damaged(`${key} is nested deeper than ${MAX_JSON_DEPTH} levels`);
    else if (isSectionName(key)) {
      const problem = sectionProblem(key, document[key]);
      if (problem !== null) damaged(problem);
      else Object.assign(head, { [key]: document[key] });
    } else if (key !== "sessionId" && key !== "userId") {
      Object.defineProperty(unknown, key, {
        value: document[key],
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
  }
  head.unknown = unknown as JsonObject;
  return structuredHead(head);
}

/** Returns a head with the sections of one that was saved from it; nothing in it has to be checked again. */
export function savedHead(head: StateHead, text: string): StateHead {
  const saved = JSON.parse(text) as StateHead;
  const next = { ...head };
  for (const name of sectionNames) Object.assign(next, { [name]: saved[name] });
  next.questions ??= {};
  return next;
}

/** @throws StateCorruptError unless salvaged | StateTooNewError */
function currentDocument(value: unknown, salvage: Salvage | undefined): Record<string, unknown> {
  try {
    return migrateDocument(value);
  } catch (error) {
    if (!salvage || !StateCorruptError.is(error)) throw error;
    salvage.damage.push(error.message);
    return { ...salvage.slot };
  }
}

function readId(
  value: unknown,
  field: string,
  damaged: (problem: string) => void,
): string | undefined {
  try {
    return checkId(value, field);
  } catch {
    damaged(`${field} is not a valid id`);
    return undefined;
  }
}

/** Own copies of the parts that callers edit in place. */
function structuredHead(head: StateHead): StateHead {
  return {
    ...head,
    permissionContext: { ...head.permissionContext },
    planModeContext: { ...head.planModeContext },
    tasksContext: { ...head.tasksContext },
    toolContext: { ...head.toolContext },
    extensions: { ...head.extensions },
    openCalls: { ...head.openCalls },
    questions: { ...head.questions },
  };
}
