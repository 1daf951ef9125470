import type { JsonObject, JsonValue } from "../json/json.js";
import type { ToolAnswer, ToolQuestion } from "../tool/question.js";

/** Freedom of tools to act without asking. */
export type PermissionMode = "default" | "accept_edits" | "explore" | "bypass" | "dont_ask";

/** A rule about one tool, optionally narrowed by an argument pattern. */
export interface PermissionRule {
  readonly tool: string;
  readonly pattern?: string | undefined;
  readonly source?: string | undefined;
}

/** A rule that would have allowed a tool call, for a person to choose. */
export interface SuggestedRule extends PermissionRule {
  /** Text for a button. */
  readonly text?: string | undefined;
  /** The rule covers more than this one call. @default false */
  readonly broad?: boolean | undefined;
}

/** Tells whether two rules say the same, wherever they come from. */
export function isSameRule(a: PermissionRule, b: PermissionRule): boolean {
  return a.tool === b.tool && a.pattern === b.pattern;
}

/** A rule that a person chose to remember. */
export interface RememberedRule extends PermissionRule {
  /** Remembered for one session, or for all sessions of its user with this agent. */
  readonly scope: "session" | "user";
}

/** Rules about which tools may run, remembered ones included. */
export interface PermissionContext {
  mode: PermissionMode;
  /** The mode was set for this session; otherwise `"default"` leaves it to the agent's own. @default false */
  isModeSet?: boolean | undefined;
  allow: readonly PermissionRule[];
  deny: readonly PermissionRule[];
  ask: readonly PermissionRule[];
  workingDirectories: readonly string[];
}

/** Plan mode: on or off, and the file of the plan. */
export interface PlanModeContext {
  active: boolean;
  planFile: string | null;
  /** Party that entered it. A plan mode entered by the application is left by it only. @default the agent */
  enteredBy?: "agent" | "application" | undefined;
}

/** One entry of the agent's task list. */
export interface Task {
  readonly id?: string | undefined;
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
  readonly priority?: "high" | "medium" | "low" | undefined;
}

/** The agent's task list. */
export interface TasksContext {
  tasks: readonly Task[];
}

/** Tool groups that are on in this session. */
export interface ToolContext {
  /** `null`: never changed, the groups' own defaults apply. */
  activatedGroups: readonly string[] | null;
}

/**
 * State of an unanswered tool call.
 * - `pending`: waits for a result from outside, or was not started before a shutdown
 * - `asking`: waits for a person's approval
 * - `allowed`: approved, not started
 * - `started`: was running when the state was saved; after a crash its outcome is unknown
 */
export type OpenCallState = "pending" | "asking" | "allowed" | "started";

/** Unanswered calls of the last assistant message, by call id. */
export type OpenCalls = { [toolCallId: string]: OpenCallState };

/** Questions of an open tool call to a person. */
export interface OpenQuestion {
  /** Question that waits for an answer; absent while the tool runs with the answers. */
  readonly asked?: ToolQuestion | undefined;
  /** The tool's own words about the question that waits. */
  readonly reason?: string | undefined;
  /** Answers so far, in order. */
  readonly answers: readonly ToolAnswer[];
}

/** Questions of open tool calls, by call id. */
export type OpenQuestions = { [toolCallId: string]: OpenQuestion };

/** State of one plugin, by plugin name. */
export type Extensions = { [plugin: string]: JsonValue };

/**
 * Record of a run: a finished one is answered from it when its `callId` is repeated, an unfinished one is continued.
 */
export type RunRecord = {
  readonly callId: string;
  /** Absent in records of earlier releases. */
  readonly runId?: string;
  /** Id of the last message of the reply; empty when there is none. */
  readonly messageId: string;
  /** Reason of the reply; `error` when the run failed or died. */
  readonly reason: string;
  /** Hash of the input that the call came with. */
  readonly inputHash?: string;
  /** Ids of the input's messages, in a run without a reply. */
  readonly inputIds?: readonly string[];
  /** Id of the last message of a run without a reply. */
  readonly lastId?: string;
  /** Time of the record, ISO 8601. */
  readonly at?: string;
};

/**
 * Differences of an object from what it was earlier, by key: what the entry was, nothing for one that was not there, or the
 * differences inside it.
 */
export type Undo = readonly (
  | readonly [key: string]
  | readonly [key: string, was: JsonValue]
  | readonly [key: string, differences: Undo, "inside"]
)[];

/** The run a step save belongs to; what a successor needs to take it back after a crash. */
export interface UnfinishedRun {
  /** Absent in states of earlier releases. */
  readonly runId?: string | undefined;
  readonly callId: string;
  /** The caller chose the `callId`, and may repeat it. */
  readonly named?: boolean | undefined;
  readonly inputHash?: string | undefined;
  /** Ids of the input's messages. */
  readonly inputIds?: readonly string[] | undefined;
  /** The input, until it is among the messages. */
  readonly input?: JsonObject | undefined;
  /** Ids of the messages the run added so far. */
  readonly messageIds: readonly string[];
  /** Id of the last message that the run was steered with or added; absent when it was not steered. */
  readonly lastId?: string | undefined;
  /** The head before the run; in the store only in states of earlier releases. */
  readonly before?: JsonObject | undefined;
  /** Changes that make the head the one before the run. */
  readonly undo?: Undo | undefined;
  /** The run's input is not among its messages yet: it was still finishing what an earlier call left open. */
  readonly inputUnsaid?: true | undefined;
}
