import { StateCorruptError } from "../errors/index.js";
import { isDeeperThan, type JsonObject, MAX_JSON_DEPTH, toJsonValue } from "../json/json.js";
import { checkId } from "../slot/slot.js";
import { migrateDocument, STATE_FORMAT, STATE_SCHEMA_VERSION } from "./migrate-document.js";
import { type SectionName, sectionChecks } from "./section-checks.js";
import type {
  Extensions,
  FinishedCall,
  OpenCalls,
  PermissionContext,
  PlanModeContext,
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
  shutdownInterrupted: boolean;
  finishedCalls: readonly FinishedCall[];
  unfinishedRun: UnfinishedRun | null;
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
    shutdownInterrupted: false,
    finishedCalls: [],
    unfinishedRun: null,
    unknown: {},
  };
}

/**
 * Values of {@link MAX_JSON_DEPTH} levels sit inside the head, and a second time, deeper, among the sections that an
 * unfinished run started from. What was accepted once must load again.
 */
const maxHeadDepth = MAX_JSON_DEPTH + 8;

/**
 * The head as it is stored: a frozen copy.
 *
 * @throws InvalidInputError when something in it cannot be kept as JSON, so that no state is saved that would not load
 */
export function writeHead(head: StateHead): JsonObject {
  const { unknown, ...known } = head;
  const document = {
    format: STATE_FORMAT,
    schemaVersion: STATE_SCHEMA_VERSION,
    minReader: 1,
    ...unknown,
    ...known,
  };
  return toJsonValue(document, "state", maxHeadDepth) as JsonObject;
}

/**
 * The head in a stored document.
 *
 * @throws StateCorruptError | StateTooNewError
 */
export function readHead(value: unknown): StateHead {
  if (isDeeperThan(value, maxHeadDepth))
    throw new StateCorruptError(
      `the state document is nested deeper than ${MAX_JSON_DEPTH} levels`,
    );
  const document = migrateDocument(value);
  const { sessionId, userId } = document;
  const head = emptyHead(
    readId(sessionId, "sessionId"),
    userId === null ? null : readId(userId, "userId"),
  );
  // Versions of a newer writer go back as they came, else its next read would migrate twice.
  const unknown: Record<string, unknown> = {};
  for (const key of Object.keys(document)) {
    if (key === "format" || key === "context") continue;
    if (Object.hasOwn(sectionChecks, key)) {
      const field = key as SectionName;
      if (!sectionChecks[field](document[field])) throw corrupt(field, "of its form");
      Object.assign(head, { [field]: document[field] });
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

function readId(value: unknown, field: string): string {
  try {
    return checkId(value, field);
  } catch {
    throw corrupt(field, "a valid id");
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
  };
}

function corrupt(field: string, wanted: string): StateCorruptError {
  return new StateCorruptError(`the state document's ${field} is not ${wanted}`);
}
