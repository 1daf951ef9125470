import { InvalidInputError } from "../errors/errors.js";
import { isRecord, type JsonObject, toJsonValue } from "../json/json.js";
import type { ToolResultState } from "../message/message.js";
import { unknownNames } from "../plugin-kit/unknown-names.js";
import { kindOf, rulesProblem } from "../state/section-checks.js";
import type { RememberedRule } from "../state/sections.js";
import { MAX_QUESTION_DEPTH } from "../tool/question.js";
import type { Confirmation, ExternalResult, QuestionAnswer } from "./call-input.js";

const confirmationKeys = ["toolCallId", "approve", "input", "reason", "interrupt", "remember"];
const ruleScopes: readonly unknown[] = [
  "session",
  "user",
] satisfies readonly RememberedRule["scope"][];
const resultKeys = ["toolCallId", "output", "state"];
const resultStates: readonly unknown[] = [
  "success",
  "error",
  "interrupted",
  "denied",
] satisfies readonly ToolResultState[];

const answerKeys = ["toolCallId", "action", "content"];
const answerActions: readonly unknown[] = [
  "accept",
  "decline",
  "cancel",
] satisfies readonly QuestionAnswer["action"][];
const maxContentChars = 16_384;

/** Returns a person's decisions about tool calls that ask, copied. @throws InvalidInputError that names the field and what is accepted */
export function confirmations(value: unknown): Confirmation[] {
  return byCall(value, "confirm", confirmationKeys).map((entry) => {
    const { toolCallId, approve, input, reason, interrupt, remember } = entry;
    const call = `tool call ${JSON.stringify(toolCallId)}`;
    const refuse = (problem: string): never => {
      throw new InvalidInputError(`confirm, about ${call}: ${problem}`);
    };
    if (typeof approve !== "boolean")
      refuse(`approve must be true or false, got ${kindOf(approve)}`);
    if (reason !== undefined && typeof reason !== "string")
      refuse(`reason must be a string, got ${kindOf(reason)}`);
    if (interrupt !== undefined && typeof interrupt !== "boolean")
      refuse(`interrupt must be true or false, got ${kindOf(interrupt)}`);
    if (interrupt === true && approve === true) refuse("interrupt goes with approve: false");
    const problem = remember === undefined ? null : rememberProblem(remember);
    if (problem !== null) refuse(problem);
    return {
      toolCallId,
      approve,
      ...(input !== undefined && { input: toJsonValue(input, `the input of ${call}`) }),
      ...(reason !== undefined && { reason }),
      ...(interrupt !== undefined && { interrupt }),
      ...(remember !== undefined && { remember: toJsonValue(remember, `remember of ${call}`) }),
    } as Confirmation;
  });
}

/** Returns the problem of what a person wants remembered, or null. */
function rememberProblem(remember: unknown): string | null {
  if (ruleScopes.includes(remember)) return null;
  const takes = 'remember takes "session", "user" or { scope, rules: [{ tool, pattern? }] }';
  if (!isRecord(remember)) return `${takes}, got ${kindOf(remember)}`;
  const [unknown] = unknownNames(remember, ["scope", "rules"], "field");
  if (unknown !== undefined) return `remember: ${unknown}; ${takes}`;
  if (!ruleScopes.includes(remember["scope"])) return `remember.scope must be session or user`;
  const problem = rulesProblem(remember["rules"], "remember.rules");
  return problem === null ? null : `${problem}; ${takes}`;
}

/** Returns the results of suspended calls, copied. @throws InvalidInputError that names the field and what is accepted */
export function externalResults(value: unknown): ExternalResult[] {
  return byCall(value, "results", resultKeys).map((entry) => {
    const { toolCallId, output, state } = entry;
    const call = `tool call ${JSON.stringify(toolCallId)}`;
    if (state !== undefined && !resultStates.includes(state))
      throw new InvalidInputError(
        `results, about ${call}: state must be ${resultStates.join(", ")}, got ${kindOf(state)}`,
      );
    return {
      toolCallId,
      output: toJsonValue(output, `the output of ${call}`),
      ...(state !== undefined && { state }),
    } as ExternalResult;
  });
}

/** Returns answers to questions of tool calls, copied. @throws InvalidInputError that names the field and what is accepted */
export function questionAnswers(value: unknown): QuestionAnswer[] {
  return byCall(value, "answers", answerKeys).map((entry) => {
    const { toolCallId, action, content } = entry;
    const call = `tool call ${JSON.stringify(toolCallId)}`;
    const refuse = (problem: string): never => {
      throw new InvalidInputError(`answers, about ${call}: ${problem}`);
    };
    if (!answerActions.includes(action))
      refuse(`action must be ${answerActions.join(", ")}, got ${kindOf(action)}`);
    if (content !== undefined && action !== "accept") refuse('content goes with action "accept"');
    if (content !== undefined && !isRecord(content))
      refuse(`content must be an object, got ${kindOf(content)}`);
    const copied =
      content === undefined
        ? undefined
        : (toJsonValue(content, `the content about ${call}`, MAX_QUESTION_DEPTH) as JsonObject);
    if (copied && JSON.stringify(copied).length > maxContentChars)
      refuse(`content has more than ${maxContentChars} characters as JSON`);
    return { toolCallId, action, ...(copied && { content: copied }) } as QuestionAnswer;
  });
}

function byCall(value: unknown, what: string, keys: readonly string[]): Record<string, unknown>[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new InvalidInputError(`${what} must be a list with at least one entry`);
  const seen = new Set<string>();
  return Array.from(value, (entry: unknown) => {
    const id: unknown = isRecord(entry) ? entry["toolCallId"] : undefined;
    if (!isRecord(entry) || typeof id !== "string")
      throw new InvalidInputError(`every entry of ${what} needs a toolCallId, which is a string`);
    if (seen.has(id)) throw new InvalidInputError(`${what} names call ${JSON.stringify(id)} twice`);
    seen.add(id);
    const [problem] = unknownNames(entry, keys, "field");
    if (problem !== undefined)
      throw new InvalidInputError(`${what}, about tool call ${JSON.stringify(id)}: ${problem}`);
    return entry;
  });
}
