import type { JsonObject, JsonValue } from "@holdfast/core";
import { isRecord, type QuestionAnswer, type ToolQuestion } from "@holdfast/core/plugin-kit";
import { safeName } from "../../terminal/safe-text.js";
import type { Choice, Questioner } from "./questioner.js";

/** Answer of a person to a question of a tool. */
export type ServerAnswer = Omit<QuestionAnswer, "toolCallId">;

/** Choices of an enum that keys can name. */
const KEYS = "123456789bfghijklmopqrstuvwxyz";

/**
 * Asks a person what a server wants to know: whether to answer at all, then field by field. Esc at a field goes back to the
 * first question, and there it cancels.
 */
export async function askServerQuestion(
  questioner: Questioner,
  { message, schema, url }: ToolQuestion,
): Promise<ServerAnswer> {
  const fields = fieldsOf(schema);
  const about = url === undefined ? message : `${message}\n\n${url}`;
  const help = url !== undefined ? "done, I have answered there" : "answer";
  for (;;) {
    const chosen = await questioner.choose({
      title: "a server asks you",
      body: about,
      prompt: "answer?",
      choices: [
        { key: "y", word: "yes", help: fields.length === 0 && url === undefined ? "yes" : help },
        { key: "n", word: "no", help: "decline" },
      ],
      escapeHelp: "Esc cancels",
    });
    if (chosen === null) return { action: "cancel" };
    if (chosen.key === "n") return { action: "decline" };
    const content = await askFields(questioner, fields);
    if (content !== null)
      return { action: "accept", ...(schema !== undefined && { content: content as JsonObject }) };
  }
}

/** Field of a form. */
interface Field {
  readonly name: string;
  readonly title: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly isRequired: boolean;
}

function fieldsOf(schema: JsonObject | undefined): readonly Field[] {
  const { properties, required } = (schema ?? {}) as Readonly<Record<string, unknown>>;
  if (!isRecord(properties)) return [];
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, field]) => {
    const own = isRecord(field) ? (field as Readonly<Record<string, unknown>>) : {};
    const { title, description } = own;
    const words = [title ?? name, description].filter((word) => typeof word === "string");
    return {
      name,
      title: safeName(words.join(": ")),
      schema: own,
      isRequired: needed.includes(name),
    };
  });
}

/** @returns null after Esc */
async function askFields(
  questioner: Questioner,
  fields: readonly Field[],
): Promise<Record<string, JsonValue> | null> {
  const content: Record<string, JsonValue> = {};
  for (const field of fields) {
    const answer = await askField(questioner, field);
    if (answer === null) return null;
    if (answer.value !== undefined) content[field.name] = answer.value;
  }
  return content;
}

/** Answer to a field; without a value when it was left out. */
interface FieldAnswer {
  readonly value?: JsonValue | undefined;
}

function askField(questioner: Questioner, field: Field): Promise<FieldAnswer | null> {
  const { type, enum: values } = field.schema;
  if (Array.isArray(values)) return askEnum(questioner, field, values as readonly JsonValue[]);
  if (type === "boolean") return askEnum(questioner, field, [true, false]);
  return askText(questioner, field);
}

async function askEnum(
  questioner: Questioner,
  field: Field,
  values: readonly JsonValue[],
): Promise<FieldAnswer | null> {
  const { enumNames: names } = field.schema;
  const isBoolean = typeof values[0] === "boolean";
  const choices: Choice[] = values.slice(0, KEYS.length).map((value, index) => {
    const name = Array.isArray(names) ? names[index] : undefined;
    const text = isBoolean ? (value === true ? "yes" : "no") : String(name ?? value);
    const key = isBoolean ? text.slice(0, 1) : (KEYS[index] ?? "");
    return { key, word: text.toLowerCase(), help: safeName(text) };
  });
  if (!field.isRequired) choices.push({ key: "-", word: "skip", help: "leave it out" });
  const chosen = await questioner.choose({
    prompt: `${field.title}:`,
    choices,
    escapeHelp: "Esc goes back",
  });
  if (chosen === null) return null;
  const index = choices.findIndex(({ key }) => key === chosen.key);
  return { value: values[index] };
}

async function askText(questioner: Questioner, field: Field): Promise<FieldAnswer | null> {
  const { default: given } = field.schema;
  let text = given === undefined ? undefined : String(given);
  let problem: string | undefined;
  const help = `Enter goes on${field.isRequired ? "" : ", also without an answer"}; Esc goes back`;
  for (;;) {
    const typed = await questioner.ask(`${field.title}:`, { text, help, problem });
    if (typed === null) return null;
    if (typed.trim() === "" && !field.isRequired) return {};
    const checked = checkText(field, typed.trim());
    if (typeof checked !== "object") return { value: checked };
    [text, problem] = [typed, checked.problem];
  }
}

function checkText(
  { schema, isRequired }: Field,
  text: string,
): string | number | { readonly problem: string } {
  const { type, minimum, maximum, minLength, maxLength } = schema;
  if (type === "number" || type === "integer") {
    const number = Number(text);
    const isNumber = text !== "" && Number.isFinite(number);
    if (!isNumber || (type === "integer" && !Number.isInteger(number)))
      return {
        problem: type === "integer" ? "This is not a whole number" : "This is not a number",
      };
    if (typeof minimum === "number" && number < minimum) return { problem: `At least ${minimum}` };
    if (typeof maximum === "number" && number > maximum) return { problem: `At most ${maximum}` };
    return number;
  }
  const length = [...text].length;
  const least = typeof minLength === "number" ? minLength : isRequired ? 1 : 0;
  if (length < least) return { problem: `At least ${least} characters` };
  if (typeof maxLength === "number" && length > maxLength)
    return { problem: `At most ${maxLength} characters` };
  return text;
}
