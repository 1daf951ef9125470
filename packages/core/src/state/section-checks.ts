import { isRecord } from "../json/json.js";
import type { StateHead } from "./head.js";

/** A part of the head that plugins and the engine write. */
export type SectionName = Exclude<keyof StateHead, "sessionId" | "userId" | "unknown">;

const openStates = new Set<unknown>(["pending", "asking", "allowed", "started"]);

/** Returns whether a stored value has the form of its head section. Fields and words of a newer release pass. */
export const sectionChecks: { readonly [S in SectionName]: (value: unknown) => boolean } = {
  permissionContext: (value: unknown) =>
    isRecord(value) &&
    isString(value["mode"]) &&
    [value["allow"], value["deny"], value["ask"]].every((rules) => isListOf(rules, isRule)) &&
    isListOf(value["workingDirectories"], isString),
  planModeContext: (value: unknown) =>
    isRecord(value) &&
    typeof value["active"] === "boolean" &&
    (value["planFile"] === null || isString(value["planFile"])),
  tasksContext: (value: unknown) => isRecord(value) && isListOf(value["tasks"], isTask),
  toolContext: (value: unknown) =>
    isRecord(value) &&
    (value["activatedGroups"] === null || isListOf(value["activatedGroups"], isString)),
  extensions: isRecord,
  openCalls: (value: unknown) =>
    isRecord(value) && Object.values(value).every((state) => openStates.has(state)),
  shutdownInterrupted: (value: unknown) => typeof value === "boolean",
  finishedCalls: (value: unknown) => isListOf(value, isFinishedCall),
  unfinishedRun: (value: unknown) =>
    value === null ||
    (isRecord(value) &&
      isString(value["callId"]) &&
      isListOf(value["messageIds"], isString) &&
      isRecord(value["before"])),
};

function isListOf(value: unknown, check: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(check);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isRule(value: unknown): boolean {
  return (
    isRecord(value) &&
    isString(value["tool"]) &&
    [value["pattern"], value["source"]].every((text) => text === undefined || isString(text))
  );
}

function isTask(value: unknown): boolean {
  return isRecord(value) && isString(value["content"]) && isString(value["status"]);
}

function isFinishedCall(value: unknown): boolean {
  return isRecord(value) && [value["callId"], value["messageId"], value["reason"]].every(isString);
}
