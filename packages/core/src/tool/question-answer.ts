import { isRecord, type JsonObject, type JsonValue } from "../json/json.js";
import { showKind } from "../plugin-kit/show-value.js";

/**
 * Returns the content of an answer with the defaults of its schema, or the problem that it has.
 *
 * Checks what forms are made of: texts, numbers, truth values and choices. Patterns and references are left to the tool, since
 * a schema may come from a foreign server.
 */
export function fittedContent(
  schema: JsonObject,
  content: JsonObject,
): { readonly content: JsonObject } | { readonly problem: string } {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const filled: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(content)) define(filled, name, value);
  for (const [name, field] of Object.entries(properties)) {
    if (!isRecord(field)) continue;
    if (!Object.hasOwn(filled, name)) {
      if (field["default"] !== undefined) define(filled, name, field["default"] as JsonValue);
      continue;
    }
    const problem = fieldProblem(field, filled[name]);
    if (problem !== null) return { problem: `content.${name} ${problem}` };
  }
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  for (const name of required)
    if (typeof name === "string" && !Object.hasOwn(filled, name))
      return { problem: `content.${name} is missing` };
  if (schema["additionalProperties"] === false)
    for (const name of Object.keys(filled))
      if (!Object.hasOwn(properties, name))
        return { problem: `content.${name} is not among the fields that were asked for` };
  return { content: filled };
}

/** Sets a field by definition: a name such as `__proto__` stays a field. */
function define(target: Record<string, JsonValue>, name: string, value: JsonValue): void {
  Object.defineProperty(target, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

/** Returns what is wrong with the value of a field, in words that do not show it; or null. */
function fieldProblem(field: Record<string, unknown>, value: unknown): string | null {
  const allowed = choicesOf(field);
  if (allowed && !allowed.includes(value)) return `must be one of ${allowed.map(shown).join(", ")}`;
  switch (field["type"]) {
    case "string":
      return typeof value === "string" ? textProblem(field, value) : wanted("a text", value);
    case "number":
    case "integer":
      return typeof value === "number" ? numberProblem(field, value) : wanted("a number", value);
    case "boolean":
      return typeof value === "boolean" ? null : wanted("true or false", value);
    case "array":
      return Array.isArray(value) ? listProblem(field, value) : wanted("a list", value);
    default:
      return null;
  }
}

/** Returns the values among which a field chooses; undefined when it takes any. */
function choicesOf(field: Record<string, unknown>): readonly unknown[] | undefined {
  if (Array.isArray(field["enum"])) return field["enum"];
  const options = field["oneOf"] ?? field["anyOf"];
  const isChoice = (one: unknown) => isRecord(one) && one["const"] !== undefined;
  if (!Array.isArray(options) || !options.every(isChoice)) return undefined;
  return options.map((one: Record<string, unknown>) => one["const"]);
}

function textProblem(field: Record<string, unknown>, value: string): string | null {
  const { minLength, maxLength, format } = field;
  // As JSON Schema counts: characters, not UTF-16 units.
  const length = [...value].length;
  if (typeof minLength === "number" && length < minLength)
    return `must have at least ${minLength} characters`;
  if (typeof maxLength === "number" && length > maxLength)
    return `must have at most ${maxLength} characters`;
  const fits = typeof format === "string" && Object.hasOwn(formats, format) && formats[format];
  return fits && !fits(value) ? `must be of the format ${String(format)}` : null;
}

const formats: { readonly [name: string]: (text: string) => boolean } = {
  email: (text) => {
    const at = text.lastIndexOf("@");
    return at > 0 && at < text.length - 1 && !/\s/.test(text);
  },
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isTime(`${text}T00:00:00Z`),
  "date-time": (text) =>
    /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(text) && isTime(text),
};

function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text.toUpperCase().replace(" ", "T")));
}

function numberProblem(field: Record<string, unknown>, value: number): string | null {
  const { type, minimum, maximum } = field;
  if (type === "integer" && !Number.isInteger(value)) return "must be a whole number";
  if (typeof minimum === "number" && value < minimum) return `must be at least ${minimum}`;
  if (typeof maximum === "number" && value > maximum) return `must be at most ${maximum}`;
  return null;
}

function listProblem(field: Record<string, unknown>, value: readonly unknown[]): string | null {
  const { minItems, maxItems, items } = field;
  if (typeof minItems === "number" && value.length < minItems)
    return `must have at least ${minItems} entries`;
  if (typeof maxItems === "number" && value.length > maxItems)
    return `must have at most ${maxItems} entries`;
  if (!isRecord(items)) return null;
  for (const [index, item] of value.entries()) {
    const problem = fieldProblem(items, item);
    if (problem !== null) return `[${index}] ${problem}`;
  }
  return null;
}

function wanted(kind: string, value: unknown): string {
  return `must be ${kind}, got ${showKind(value)}`;
}

function shown(choice: unknown): string {
  return JSON.stringify(choice) ?? "nothing";
}
