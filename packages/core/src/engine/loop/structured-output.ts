import { StructuredOutputError } from "../../errors/errors.js";
import type { JsonObject, JsonValue } from "../../json/json.js";
import { jsonProblem } from "../../json/json-problem.js";
import { createMessage } from "../../message/create-message.js";
import type { HintBlock, Message } from "../../message/message.js";
import { textOf, toolCallsOf } from "../../message/read-message.js";
import { cutIndex } from "../../plugin-kit/cut-text.js";
import type { ToolChoice, ToolSchema } from "../../ports/model.js";
import { describeSlot, type Slot } from "../../slot/slot.js";
import { jsonSchemaOf, type ToolInputSchema, validateInput } from "../../tool/input-schema.js";
import { textResult } from "../tools/tool-results.js";

/** Name of the tool that carries the output where the model has no response format. */
export const OUTPUT_TOOL = "generate_response";

/** Attempts at a valid output before the call fails. */
const maxAttempts = 3;

/** A reply that satisfied the schema. */
export interface StructuredReply {
  /** The one message that enters the context. */
  readonly message: Message;
  readonly output: unknown;
}

/**
 * Gets a reply of a given form out of a model: by its response format, or else by a tool.
 *
 * Failed attempts live in `transient` only: the context gets one clean assistant message.
 */
export class StructuredOutput {
  readonly #schema: ToolInputSchema;
  readonly #jsonSchema: JsonObject;
  readonly #native: boolean;
  /** Tools take objects; another schema is wrapped in `{ response }`. */
  readonly #wrapped: boolean;
  readonly #slot: Slot;
  #attempts = 0;
  #forced = false;
  /** Failed attempts and what was said about them, for the next request only. */
  transient: readonly Message[] = [];

  constructor(schema: ToolInputSchema, native: boolean, slot: Slot) {
    this.#schema = schema;
    this.#jsonSchema = jsonSchemaOf(schema, "the call's output");
    this.#native = native;
    this.#wrapped = this.#jsonSchema["type"] !== "object";
    this.#slot = slot;
  }

  get nativeSchema(): JsonObject | undefined {
    return this.#native ? this.#jsonSchema : undefined;
  }

  get tools(): readonly ToolSchema[] {
    if (this.#native) return [];
    return [
      {
        name: OUTPUT_TOOL,
        description: "Gives the final answer in the required form. Call it once, alone, when done.",
        inputSchema: this.#wrapped ? wrap(this.#jsonSchema) : this.#jsonSchema,
      },
    ];
  }

  get toolChoice(): ToolChoice | undefined {
    return this.#forced ? { tool: OUTPUT_TOOL } : undefined;
  }

  get hints(): readonly HintBlock[] {
    if (this.#native) return [];
    const text = `When you have the answer, give it by calling ${OUTPUT_TOOL}.`;
    return [{ type: "hint", source: "structured_output", text }];
  }

  /**
   * Looks at a model's message.
   *
   * @returns the reply when it is complete, `"again"` when the model has to try again, null when it is about other tools
   * @throws StructuredOutputError when it failed too often
   */
  async read(message: Message): Promise<StructuredReply | "again" | null> {
    const calls = toolCallsOf(message);
    const call = calls.find(({ name }) => name === OUTPUT_TOOL);
    if (call && calls.length > 1)
      return this.#again(
        message,
        calls.map((one) =>
          textResult(one, `Not run: call ${OUTPUT_TOOL} alone, after the other tools.`, "error"),
        ),
        `it called ${OUTPUT_TOOL} together with other tools`,
      );
    if (calls.length > 0 && !call) return null;
    if (!call && !this.#native) {
      this.#forced = true;
      return this.#again(message, [], `it answered in text without calling ${OUTPUT_TOOL}`);
    }
    const value = call ? this.#unwrap(call.input) : parsed(textOf(message));
    const validation =
      value === undefined
        ? { problem: call ? `it has no "response"` : notJson(textOf(message)) }
        : await validateInput(this.#schema, value);
    if (validation.problem === undefined)
      return { output: validation.value, message: clean(message, value) };
    const { problem } = validation;
    const hint = `The output does not fit: ${problem}`;
    const results = call ? [textResult(call, hint, "error")] : [];
    return this.#again(message, results, problem, hint);
  }

  #unwrap(input: JsonValue): JsonValue | undefined {
    return this.#wrapped ? (input as JsonObject | null)?.["response"] : input;
  }

  #again(
    message: Message,
    results: readonly ReturnType<typeof textResult>[],
    problem: string,
    hint?: string,
  ): "again" {
    if (++this.#attempts >= maxAttempts)
      throw new StructuredOutputError(
        `the model gave no output that fits ctx.output in ${maxAttempts} attempts on ${describeSlot(this.#slot)}. What was wrong with the last one: ${clip(problem)}`,
      );
    this.transient = [...this.transient, message];
    if (results.length > 0) this.transient = [...this.transient, createMessage("tool", results)];
    else
      this.transient = [
        ...this.transient,
        createMessage("user", [
          {
            type: "hint",
            source: "structured_output",
            text: hint ?? `Give this answer by calling ${OUTPUT_TOOL}.`,
          },
        ]),
      ];
    return "again";
  }
}

/**
 * The output of a structured reply, out of the message that {@link StructuredOutput} put into the context: as the schema
 * makes it of what the model wrote.
 */
export async function outputOf(
  message: Message,
  schema: ToolInputSchema | undefined,
): Promise<unknown> {
  const value = parsed(textOf(message));
  if (!schema) return value;
  const validation = await validateInput(schema, value);
  return validation.problem === undefined ? validation.value : value;
}

/** Returns what the model wrote as its output, as one message: a schema may turn it into something JSON cannot hold. */
function clean(message: Message, value: JsonValue | undefined): Message {
  const thinking = message.content.filter(({ type }) => type === "thinking");
  return createMessage("assistant", [...thinking, { type: "text", text: JSON.stringify(value) }], {
    id: message.id,
    createdAt: message.createdAt,
    usage: message.usage,
  });
}

/** Says where a text is not JSON, without a piece of it: the sentence may become an error's message. */
function notJson(text: string): string {
  const broken = jsonProblem(text);
  return broken
    ? `it is not valid JSON: at character ${broken.offset + 1} ${broken.problem}`
    : "it is not JSON";
}

const maxProblemChars = 500;

function clip(text: string): string {
  return text.length > maxProblemChars
    ? `${text.slice(0, cutIndex(text, maxProblemChars))}…`
    : text;
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** An object schema with the given one as its `response`; references into the given one stay right. */
function wrap(schema: JsonObject): JsonObject {
  const { $defs, ...response } = schema;
  return {
    type: "object",
    properties: { response: retarget(response) },
    required: ["response"],
    ...($defs !== undefined && { $defs: retarget($defs) }),
  };
}

function retarget(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(retarget);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) =>
      key === "$ref" && typeof item === "string"
        ? [key, item.replace(/^#(?!\/\$defs\/)/, "#/properties/response")]
        : [key, retarget(item)],
    ),
  );
}
