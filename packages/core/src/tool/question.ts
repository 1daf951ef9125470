import { InvalidInputError } from "../errors/errors.js";
import { isRecord, type JsonObject, toJsonValue } from "../json/json.js";
import { kindOf } from "../state/section-checks.js";

/** Question of a tool to a person. */
export interface ToolQuestion {
  /** Words for the person. */
  readonly message: string;
  /** JSON Schema of the answer, for a form: an object of texts, numbers, truth values and choices. @default no content */
  readonly schema?: JsonObject | undefined;
  /** Address that the person is to open, for what must not pass through the agent, such as a password. */
  readonly url?: string | undefined;
}

/** Answer to a question of a tool, as the tool gets it. */
export interface ToolAnswer {
  /** The question that was answered. */
  readonly question: ToolQuestion;
  /** `accept`: answered; `decline`: refused; `cancel`: put aside without a choice. */
  readonly action: "accept" | "decline" | "cancel";
  /** Fields that the person filled in, with the defaults of the schema; only with `accept`. */
  readonly content?: JsonObject | undefined;
}

/** Questions that one tool call may ask, one after another. */
export const MAX_QUESTIONS = 20;
/** Characters that the questions and answers of a session's open calls may have together, as JSON. */
export const MAX_QUESTION_CHARS = 131_072;
const maxMessageChars = 8_000;
const maxUrlChars = 8_000;
const maxSchemaChars = 32_000;
/** Deepest nesting of a schema, and of the content of an answer. */
export const MAX_QUESTION_DEPTH = 32;

/**
 * Returns a question, copied.
 *
 * @throws InvalidInputError that names the field and what is accepted
 */
export function checkedQuestion(value: unknown): ToolQuestion {
  const refuse = (problem: string): never => {
    throw new InvalidInputError(`suspend: question${problem}`);
  };
  if (!isRecord(value)) return refuse(` must be { message, schema?, url? }, got ${kindOf(value)}`);
  const { message, schema, url } = value;
  if (typeof message !== "string" || message === "" || message.length > maxMessageChars)
    return refuse(`.message must be a text of at most ${maxMessageChars} characters`);
  if (url !== undefined && (typeof url !== "string" || url.length > maxUrlChars || !isWeb(url)))
    return refuse(`.url must begin with http:// or https://, at most ${maxUrlChars} characters`);
  if (schema !== undefined && !isRecord(schema))
    return refuse(`.schema must be a JSON Schema, got ${kindOf(schema)}`);
  if (schema !== undefined && url !== undefined) return refuse(" has either a schema or a url");
  const copied =
    schema && (toJsonValue(schema, "the schema of the question", MAX_QUESTION_DEPTH) as JsonObject);
  if (copied && JSON.stringify(copied).length > maxSchemaChars)
    return refuse(`.schema has more than ${maxSchemaChars} characters`);
  return Object.freeze({
    message,
    ...(copied && { schema: copied }),
    ...(url !== undefined && { url: url as string }),
  });
}

function isWeb(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
