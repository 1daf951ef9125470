import { InvalidInputError } from "../errors/errors.js";
import type { JsonObject } from "../json/json.js";
import { createMessage } from "../message/create-message.js";
import type { Message } from "../message/message.js";
import { showValue, unfitFields } from "../plugin-kit/show-value.js";
import { checkOptions } from "../plugin-kit/unknown-names.js";
import type { LogRange } from "../ports/conversation-log.js";
import { checkId } from "../slot/slot.js";
import { kindOf, rulesProblem } from "../state/section-checks.js";
import type { PermissionMode, PermissionRule, RememberedRule } from "../state/sections.js";
import type { AgentParts } from "./assemble/agent-parts.js";
import { checkMessages, checkSizes } from "./check-messages.js";

/** Options of `getAgentState` and `updateAgentState`. */
export interface SalvageOptions {
  /**
   * Reads a damaged state as far as it goes: sections and messages that cannot be read are left out and named in
   * `state.damage`. @default false
   */
  readonly salvage?: boolean | undefined;
}

/** Options of `resume`. */
export interface ResumeOptions {
  /** Goes on with the run of this call. @default the last run of the session */
  readonly callId?: string | undefined;
  /** Ends the call when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Longest wait for the session's turn; none by default. */
  readonly queueTimeoutMs?: number | undefined;
}

/** Options of `compact`; the rest goes to the Compactor as one-off options. */
export interface CompactOptions {
  /** Compact even below the trigger. @default false */
  readonly force?: boolean | undefined;
  readonly [option: string]: unknown;
}

/** @throws InvalidInputError */
export function resumeOptions(options: unknown): ResumeOptions {
  return checkOptions<ResumeOptions>(options, ["callId", "signal", "queueTimeoutMs"], "resume");
}

/** @throws InvalidInputError */
export function rulesOptions(
  options: unknown,
  method: "rememberRules" | "forgetRules",
): {
  readonly scope: RememberedRule["scope"];
  readonly rules: readonly PermissionRule[] | undefined;
} {
  const { scope, rules } = checkOptions<Partial<ReturnType<typeof rulesOptions>>>(
    options,
    ["scope", "rules"],
    method,
  );
  if (scope !== "session" && scope !== "user")
    throw new InvalidInputError(`${method}: scope must be session or user, got ${kindOf(scope)}`);
  const isLeftOut = rules === undefined && method === "forgetRules";
  const problem = isLeftOut ? null : rulesProblem(rules, "rules");
  if (problem !== null) throw new InvalidInputError(`${method}: ${problem}`);
  return { scope, rules };
}

/** Options of `fork`. */
export interface ForkOptions {
  /**
   * Last position to take over: that of a message, as `session_history` and `session_search` show it and `log.read` returns it
   * as `seq`, or the id of a message. @default the end
   */
  readonly at?: number | string | undefined;
  /** Id of the new session, which must not exist. @default a new one */
  readonly as?: string | undefined;
}

/** @throws InvalidInputError | InvalidIdError */
export function forkOptions(options: unknown): ForkOptions {
  const { at, as } = checkOptions<ForkOptions>(options, ["at", "as"], "fork");
  const isPosition = typeof at === "number" || (typeof at === "string" && at !== "");
  if (at !== undefined && !isPosition)
    throw new InvalidInputError(
      `fork: at must be a position in the log or the id of a message, got ${showValue(at)}`,
    );
  return { at, as: as === undefined ? undefined : checkId(as, "as") };
}

/** @throws InvalidInputError */
export function historyRange(options: unknown): LogRange {
  const range = checkOptions<LogRange>(options, ["before", "after", "limit"], "history");
  for (const [name, seq] of Object.entries(range))
    if (seq !== undefined && (typeof seq !== "number" || !Number.isInteger(seq)))
      throw new InvalidInputError(`history: ${name} must be a whole number, got ${showValue(seq)}`);
  return range;
}

const permissionModes: readonly unknown[] = [
  ...(["default", "accept_edits", "explore", "bypass", "dont_ask"] satisfies PermissionMode[]),
];

/** @throws InvalidInputError */
export function permissionMode(mode: unknown): PermissionMode {
  if (permissionModes.includes(mode)) return mode as PermissionMode;
  throw new InvalidInputError(
    `setPermissionMode: the mode must be ${permissionModes.join(", ")}, got ${showValue(mode)}`,
  );
}

/** Returns the engine's own option, and what goes to the Compactor. @throws InvalidInputError */
export function compactOptions(options: unknown = {}): {
  readonly force: boolean;
  readonly overrides: JsonObject;
} {
  const unfit = unfitFields(options);
  if (unfit !== null)
    throw new InvalidInputError(`the options of compact must be an object: ${unfit}`);
  const { force = false, ...overrides } = options as CompactOptions;
  if (typeof force !== "boolean")
    throw new InvalidInputError(`compact: force must be true or false, got ${kindOf(force)}`);
  return { force, overrides: overrides as JsonObject };
}

/** @throws InvalidInputError */
export function salvageOption(options: unknown, method: string): boolean {
  const { salvage = false } = checkOptions<SalvageOptions>(options, ["salvage"], method);
  if (typeof salvage === "boolean") return salvage;
  throw new InvalidInputError(`${method}: salvage must be true or false, got ${kindOf(salvage)}`);
}

/** @throws InvalidInputError */
export function timeoutOption(options: unknown, otherwise: number, method: string): number {
  const { timeoutMs = otherwise } = checkOptions<{ readonly timeoutMs?: number | undefined }>(
    options,
    ["timeoutMs"],
    method,
  );
  if (typeof timeoutMs === "number" && timeoutMs >= 0) return timeoutMs;
  throw new InvalidInputError(
    `${method}: timeoutMs must be a number of milliseconds, got ${kindOf(timeoutMs)}`,
  );
}

/** Returns the message of `interrupt` or `steer`, checked as a call's. @throws InvalidInputError | StateTooLargeError */
export function wordsOf(
  { now, settings }: AgentParts,
  given: unknown,
  method: "interrupt" | "steer",
): Message {
  if (given === undefined) throw new InvalidInputError(`${method} needs a text or a message`);
  const [message, ...others] = checkMessages(
    typeof given === "string" ? createMessage("user", given, { createdAt: now() }) : given,
  );
  if (!message || others.length > 0 || Array.isArray(given))
    throw new InvalidInputError(`${method} takes a text or one message, got a list`);
  checkSizes([message], settings.limits.messageBytes);
  return message;
}
