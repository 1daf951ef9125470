import { StateCorruptError } from "../errors/index.js";
import { isRecord, type JsonObject } from "../json/json.js";
import { migrateDocument, STATE_FORMAT, STATE_SCHEMA_VERSION } from "./migrate-document.js";
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

/** The head as it is stored. The parts are the state's own: callers copy or serialise before they keep it. */
export function writeHead(head: StateHead): JsonObject {
  const { unknown, ...known } = head;
  return {
    format: STATE_FORMAT,
    schemaVersion: STATE_SCHEMA_VERSION,
    minReader: 1,
    ...unknown,
    ...known,
  } as unknown as JsonObject;
}

/**
 * The head in a stored document.
 *
 * @throws StateCorruptError | StateTooNewError
 */
export function readHead(value: unknown): StateHead {
  const document = migrateDocument(value);
  if (typeof document["sessionId"] !== "string") throw corrupt("sessionId", "a string");
  const userId = document["userId"];
  if (userId !== null && typeof userId !== "string") throw corrupt("userId", "a string or null");
  const head = emptyHead(document["sessionId"], userId);
  // Versions of a newer writer go back as they came, else its next read would migrate twice.
  const unknown: Record<string, unknown> = {};
  for (const key of Object.keys(document)) {
    if (key === "format" || key === "context") continue;
    if (Object.hasOwn(checks, key)) {
      const field = key as keyof typeof checks;
      if (!checks[field](document[field])) throw corrupt(field, "of its form");
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

const checks = {
  permissionContext: (value: unknown) =>
    isRecord(value) &&
    typeof value["mode"] === "string" &&
    [value["allow"], value["deny"], value["ask"], value["workingDirectories"]].every(Array.isArray),
  planModeContext: (value: unknown) =>
    isRecord(value) &&
    typeof value["active"] === "boolean" &&
    (value["planFile"] === null || typeof value["planFile"] === "string"),
  tasksContext: (value: unknown) => isRecord(value) && Array.isArray(value["tasks"]),
  toolContext: (value: unknown) =>
    isRecord(value) &&
    (value["activatedGroups"] === null || Array.isArray(value["activatedGroups"])),
  extensions: isRecord,
  openCalls: (value: unknown) =>
    isRecord(value) &&
    Object.values(value).every((state) =>
      ["pending", "asking", "allowed", "started"].includes(state as string),
    ),
  shutdownInterrupted: (value: unknown) => typeof value === "boolean",
  finishedCalls: (value: unknown) => Array.isArray(value) && value.every(isRecord),
  unfinishedRun: (value: unknown) => value === null || isRecord(value),
} satisfies { readonly [field: string]: (value: unknown) => boolean };

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
