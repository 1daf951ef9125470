import { ConfigurationError } from "../errors/errors.js";
import { isRecord, type JsonObject } from "../json/json.js";
import type { DataBlock, TextBlock, ToolResultState } from "../message/message.js";
import { plainProblem } from "../plugin-kit/plain-problem.js";
import * as s from "../plugin-kit/schema/index.js";
import { showKind, showValue } from "../plugin-kit/show-value.js";
import { nearestName, unknownNames } from "../plugin-kit/unknown-names.js";
import { type InferInput, jsonSchemaOf, type ToolInputSchema } from "./input-schema.js";
import { checkedQuestion, type ToolQuestion } from "./question.js";
import type { ToolCallContext } from "./tool-call-context.js";
import type { ToolDelegation } from "./tool-delegation.js";
import type { ApprovalCheck, ToolPermission } from "./tool-permission.js";

/** Options of {@link tool}. */
export interface ToolOptions<S extends ToolInputSchema, Output = unknown> {
  /** Letters, digits, `_` and `-`, at most 64 of them. */
  readonly name: string;
  /** Description for the model. */
  readonly description: string;
  /** Schema of the input. */
  readonly input: S;
  /** Declares that the tool changes nothing outside; such tools stay available in plan mode. @default false */
  readonly readOnly?: boolean | undefined;
  /** Name of a tool group: the tool is offered only while the group is active in the session. */
  readonly group?: string | undefined;
  /** Longest run of one call. @default the agent's `toolTimeoutMs`, 300,000 */
  readonly timeoutMs?: number | undefined;
  /**
   * Asks a person before a call runs: always, or when the function says so. A rule that a person chose to remember answers in
   * advance; so does the mode `bypass` of `@holdfast/permissions`. @default false
   */
  readonly needsApproval?: boolean | ApprovalCheck<InferInput<S>>["isNeeded"] | undefined;
  /** Says what a call acts on, for rules such as `read_file(./.env)`. @default rules name the tool alone */
  readonly permission?: ToolPermission<InferInput<S>> | undefined;
  /**
   * Runs before the other calls of its step, which are judged once it has ended: for tools that change what others may do.
   * @default false
   */
  readonly runsFirst?: boolean | undefined;
  /** Passes on what another agent asks, for a tool that runs one. @default a suspended call waits for `{ results }` */
  readonly delegation?: ToolDelegation<InferInput<S>> | undefined;
  /**
   * Runs the tool.
   *
   * - The return value becomes the result: text and blocks unchanged, anything else as JSON, in words where JSON has none
   *   (a `Map` as an object, a cycle as a note); see also {@link toolResult} and {@link suspend}.
   * - An error, thrown or returned, becomes an error result that the model can read; its stack is in the event `tool_result`.
   * - Without `execute` the tool runs outside: the call ends with `reason: "tool_suspended"` and is resumed with
   *   `{ results }`.
   */
  execute?(input: InferInput<S>, ctx: ToolCallContext): Output;
}

/**
 * Tool as the engine uses it; made with {@link tool}, which keeps the types of input and output. Any tool fits `Tool`, whose
 * input and output are unknown.
 */
export interface Tool<Input = never, Output = unknown> {
  readonly name: string;
  readonly description: string;
  readonly input: ToolInputSchema;
  readonly inputSchema: JsonObject;
  readonly readOnly: boolean;
  readonly group?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly needsApproval?: boolean | ApprovalCheck<Input>["isNeeded"] | undefined;
  readonly permission?: ToolPermission<Input> | undefined;
  readonly runsFirst?: boolean | undefined;
  readonly delegation?: ToolDelegation<Input> | undefined;
  /** Runs the tool with an input that its schema has validated. */
  execute?(input: Input, ctx: ToolCallContext): Output;
}

const definition = s.object({
  name: s.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, "letters, digits, _ and -, at most 64 of them"),
  description: s.string().min(1),
  readOnly: s.boolean().optional(),
  group: s.string().min(1).optional(),
  timeoutMs: s.number().int().positive().optional(),
  needsApproval: s
    .custom(
      (value) => ["boolean", "function"].includes(typeof value),
      "must be true, false or a function",
    )
    .optional(),
  permission: s
    .custom(
      (value) => isRecord(value) && typeof value["subject"] === "function",
      "must be an object with a function subject",
    )
    .optional(),
  runsFirst: s.boolean().optional(),
  delegation: s
    .custom(
      (value) =>
        isRecord(value) &&
        typeof value["pending"] === "function" &&
        typeof value["answer"] === "function",
      "must be an object with functions pending and answer",
    )
    .optional(),
  execute: s.custom((value) => typeof value === "function", "must be a function").optional(),
});

/** A tool that was made already may be passed on with changes, and has its JSON Schema. */
const knownOptions = [...Object.keys(definition.shape), "input", "inputSchema"];

/**
 * Says of each key that is nearly an option what it was meant to be: with a misspelt `needsApproval` the tool would run unasked.
 * Other keys are left alone, because `execute` may need them as fields of `this`.
 */
function misspeltOptions(options: object): readonly string[] {
  const near = Object.keys(options).filter((key) => nearestName(key, knownOptions));
  return unknownNames(Object.fromEntries(near.map((key) => [key])), knownOptions, "option");
}

/**
 * Defines a tool.
 *
 * @throws ConfigurationError with every wrong field, and when the input cannot be described as JSON Schema
 * @example
 * const add = tool({
 *   name: "add", description: "Adds two numbers.",
 *   input: s.object({ a: s.number(), b: s.number() }),
 *   execute: ({ a, b }) => a + b,
 * });
 */
export function tool<S extends ToolInputSchema, Output = unknown>(
  options: ToolOptions<S, Output>,
): Tool<InferInput<S>, Output> {
  if (!isRecord(options))
    throw new ConfigurationError(
      `tool needs { name, description, input, execute }, got ${showValue(options)}`,
    );
  const { name }: { readonly name: unknown } = options;
  const which = typeof name === "string" ? `tool ${JSON.stringify(name)}` : "a tool";
  const problems = (definition.safeParse(options).error?.issues ?? []).map(
    (issue) => `${which}: ${issue.path.join(".")}: ${plainProblem(issue.message)}`,
  );
  let inputSchema: JsonObject = {};
  let cause: unknown;
  try {
    const misnamed = options.input === undefined ? misnamedInput(options) : undefined;
    if (misnamed !== undefined)
      throw new ConfigurationError(
        `${which}: unknown option ${JSON.stringify(misnamed)}; did you mean input?`,
      );
    problems.push(...misspeltOptions(options).map((problem) => `${which}: ${problem}`));
    inputSchema = jsonSchemaOf(options.input, which);
  } catch (error) {
    if (!ConfigurationError.is(error)) throw error;
    problems.push(...error.problems);
    cause = error.cause;
  }
  if (problems.length > 0) throw new ConfigurationError(problems, { cause });
  return Object.freeze({
    name: options.name,
    description: options.description,
    input: options.input,
    inputSchema,
    readOnly: options.readOnly ?? false,
    group: options.group,
    timeoutMs: options.timeoutMs,
    ...(options.needsApproval !== undefined && { needsApproval: approvalOf(options) }),
    ...(options.permission && { permission: options.permission }),
    ...(options.runsFirst && { runsFirst: true }),
    ...(options.delegation && { delegation: options.delegation }),
    ...(options.execute && { execute: options.execute.bind(options) }),
  });
}

/** Refuses an answer that is none: what a forgotten `return` gives must not let a tool run unasked. */
function approvalOf<S extends ToolInputSchema>({
  name,
  needsApproval,
}: Pick<ToolOptions<S>, "name" | "needsApproval">): Tool<InferInput<S>>["needsApproval"] {
  if (typeof needsApproval !== "function") return needsApproval;
  return async (input, ctx) => {
    const asks: unknown = await needsApproval(input, ctx);
    if (typeof asks === "boolean") return asks;
    throw new ConfigurationError(
      `tool ${JSON.stringify(name)}: needsApproval must return true or false, got ${showKind(asks)}`,
    );
  };
}

/** Returns the key under which a definition has its input by mistake; other libraries have other names for it. */
function misnamedInput(options: object): string | undefined {
  const known = [...Object.keys(definition.shape), "input"];
  return Object.keys(options).find(
    (key) =>
      !known.includes(key) &&
      (["parameters", "inputSchema", "schema"].includes(key) ||
        nearestName(key, ["input"]) !== undefined),
  );
}

const suspendedBrand: unique symbol = Symbol.for("holdfast.suspended");
const resultBrand: unique symbol = Symbol.for("holdfast.tool_result");

/** Return value of a tool that leaves its call open; made with {@link suspend}. */
export interface Suspended {
  readonly [suspendedBrand]: true;
  readonly reason: string | undefined;
  /** Question to a person. */
  readonly question?: ToolQuestion | undefined;
}

/**
 * Leaves a tool call open: return it from a tool whose result comes later, from outside. The call is resumed with
 * `{ results }`.
 *
 * With a `question` a person is asked in the middle of the call: it goes on with `{ answers }`, and then the tool runs again,
 * from its beginning, with the answers so far in `ctx.answers`. A tool therefore asks before it acts. It may ask 20 times.
 *
 * @throws InvalidInputError for a question that cannot be asked
 * @example
 * execute: ({ question }) => suspend(`waits for an answer to: ${question}`)
 * @example
 * execute: ({ city }, { answers }) => {
 *   const [answer] = answers;
 *   if (!answer) return suspend("asks for the date", { question: { message: `Which day in ${city}?`, schema } });
 *   return answer.action === "accept" ? book(city, answer.content) : "The user did not say when.";
 * }
 */
export function suspend(
  reason?: string,
  options: { readonly question?: ToolQuestion | undefined } = {},
): Suspended {
  const question = options.question && checkedQuestion(options.question);
  return Object.freeze({ [suspendedBrand]: true as const, reason, ...(question && { question }) });
}

/** Tells whether a tool returned {@link suspend}. */
export function isSuspended(value: unknown): value is Suspended {
  return typeof value === "object" && value !== null && suspendedBrand in value;
}

/** Tool result with an explicit state; made with {@link toolResult}. */
export interface ExplicitToolResult {
  readonly [resultBrand]: true;
  readonly output: string | readonly (TextBlock | DataBlock)[];
  readonly state: ToolResultState;
  readonly metadata: JsonObject | undefined;
  /** Error behind the result. */
  readonly cause?: unknown;
}

/**
 * Makes a tool result with a state or metadata: return it from a tool instead of a plain value. The event `tool_result` tells
 * listeners its `cause`; the model does not see it.
 *
 * @example
 * execute: () => toolResult({ output: "No such file.", state: "error" })
 */
export function toolResult(result: {
  readonly output: string | readonly (TextBlock | DataBlock)[];
  readonly state?: ToolResultState | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly cause?: unknown;
}): ExplicitToolResult {
  return Object.freeze({
    [resultBrand]: true as const,
    output: result.output,
    state: result.state ?? "success",
    metadata: result.metadata,
    ...(result.cause !== undefined && { cause: result.cause }),
  });
}

/** Tells whether a tool returned {@link toolResult}. */
export function isExplicitToolResult(value: unknown): value is ExplicitToolResult {
  return typeof value === "object" && value !== null && resultBrand in value;
}
