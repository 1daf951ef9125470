import { z } from "zod";
import type { RuntimeContext } from "../context/runtime-context.js";
import { ConfigurationError } from "../errors/errors.js";
import type { JsonObject } from "../json/json.js";
import type { DataBlock, TextBlock, ToolResultState } from "../message/message.js";
import { type InferInput, jsonSchemaOf, type ToolInputSchema } from "./input-schema.js";

/** What a tool author writes; see {@link tool}. */
export interface ToolOptions<S extends ToolInputSchema> {
  readonly name: string;
  readonly description: string;
  readonly input: S;
  /** Changes nothing outside; such tools stay available in plan mode. @default false */
  readonly readOnly?: boolean | undefined;
  /** Offered only while this group is active in the session. */
  readonly group?: string | undefined;
  /** @default the agent's `toolTimeoutMs`, 300,000 */
  readonly timeoutMs?: number | undefined;
  /**
   * Does the work. What it returns becomes the result: text as it is, blocks as they are, anything else as JSON; see
   * also {@link toolResult} and {@link suspend}. What it throws becomes an error the model can read.
   *
   * Left out: the tool runs outside. The call ends with `reason: "tool_suspended"` and goes on with `{ results }`.
   */
  execute?(input: InferInput<S>, ctx: RuntimeContext): unknown;
}

/** A tool as the engine sees it. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: ToolInputSchema;
  readonly inputSchema: JsonObject;
  readonly readOnly: boolean;
  readonly group?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly execute?: ((input: never, ctx: RuntimeContext) => unknown) | undefined;
}

const definition = z.object({
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, "letters, digits, _ and -, at most 64 of them"),
  description: z.string().min(1),
  readOnly: z.boolean().optional(),
  group: z.string().min(1).optional(),
  timeoutMs: z.number().int().positive().optional(),
  execute: z.custom((value) => typeof value === "function", "must be a function").optional(),
});

/**
 * Defines a tool.
 *
 * @throws ConfigurationError naming every field that is wrong, and an input that cannot be described to a model
 * @example
 * const add = tool({
 *   name: "add", description: "Adds two numbers.",
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => a + b,
 * });
 */
export function tool<S extends ToolInputSchema>(options: ToolOptions<S>): Tool {
  const problems = (definition.safeParse(options).error?.issues ?? []).map(
    (issue) => `tool ${JSON.stringify(options.name)}: ${issue.path.join(".")}: ${issue.message}`,
  );
  let inputSchema: JsonObject = {};
  let cause: unknown;
  try {
    inputSchema = jsonSchemaOf(options.input, `tool ${JSON.stringify(options.name)}`);
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
    execute: options.execute?.bind(options) as Tool["execute"],
  });
}

const suspendedBrand: unique symbol = Symbol.for("holdfast.suspended");
const resultBrand: unique symbol = Symbol.for("holdfast.tool_result");

/** A tool that returns this leaves its call open; the call goes on with `{ results }`. */
export interface Suspended {
  readonly [suspendedBrand]: true;
  readonly reason: string | undefined;
}

/** Returned by a tool whose answer comes later, from outside. */
export function suspend(reason?: string): Suspended {
  return Object.freeze({ [suspendedBrand]: true as const, reason });
}

/** Whether a tool's return value is {@link suspend}'s. */
export function isSuspended(value: unknown): value is Suspended {
  return typeof value === "object" && value !== null && suspendedBrand in value;
}

/** A tool result with everything said explicitly. */
export interface ExplicitToolResult {
  readonly [resultBrand]: true;
  readonly output: string | readonly (TextBlock | DataBlock)[];
  readonly state: ToolResultState;
  readonly metadata: JsonObject | undefined;
}

/** Returned by a tool that wants to set its result's state or metadata. */
export function toolResult(result: {
  readonly output: string | readonly (TextBlock | DataBlock)[];
  readonly state?: ToolResultState | undefined;
  readonly metadata?: JsonObject | undefined;
}): ExplicitToolResult {
  return Object.freeze({
    [resultBrand]: true as const,
    output: result.output,
    state: result.state ?? "success",
    metadata: result.metadata,
  });
}

/** Whether a tool's return value is {@link toolResult}'s. */
export function isExplicitToolResult(value: unknown): value is ExplicitToolResult {
  return typeof value === "object" && value !== null && resultBrand in value;
}
