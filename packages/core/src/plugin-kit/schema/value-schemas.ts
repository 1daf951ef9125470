import { InvalidInputError } from "../../errors/errors.js";
import { type JsonValue, MAX_JSON_DEPTH } from "../../json/json.js";
import { isPlainObject } from "./is-plain-object.js";
import { anyOf, Schema } from "./schema.js";
import { addWrongType, type FoundIssue, isBroken } from "./schema-issue.js";

/** Makes a schema of true and false. */
export function boolean(): Schema<boolean> {
  return new Schema({
    read: (value, issues) =>
      typeof value === "boolean" ? value : addWrongType(issues, "boolean", value),
    json: () => ({ type: "boolean" }),
  });
}

/** Makes a schema of any value. In an object the key must be there unless it is optional. */
export function unknown(): Schema {
  return new Schema({ read: (value) => value, json: () => ({}) });
}

/** Makes a schema of all that JSON can hold. */
export function json(): Schema<JsonValue> {
  return new Schema<JsonValue>({
    read: (value, issues) =>
      isJson(value, MAX_JSON_DEPTH) ? value : addInvalid(issues, "invalid_union", value),
    json: () => ({}),
  });
}

function isJson(value: unknown, levels: number): boolean {
  if (value === null || ["string", "boolean"].includes(typeof value)) return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (!Array.isArray(value) && !isPlainObject(value)) return false;
  return levels > 0 && Object.values(value).every((part) => isJson(part, levels - 1));
}

/** Makes a schema of one value. */
export function literal<const Value extends string | number | boolean>(
  value: Value,
): Schema<Value> {
  return new Schema({
    read: choose([value], `Invalid input: expected ${JSON.stringify(value)}`),
    json: () => ({ type: typeof value, const: value }),
  });
}

/** Makes a schema of some texts. */
export function choice<const Value extends string>(
  values: readonly Value[],
  message?: string,
): Schema<Value> {
  const words = values.map((value) => JSON.stringify(value)).join("|");
  const expected =
    values.length === 1
      ? `Invalid input: expected ${words}`
      : `Invalid option: expected one of ${words}`;
  return new Schema({
    read: choose(values, message ?? expected),
    json: () => ({ type: "string", enum: [...values] }),
  });
}

function choose(values: readonly unknown[], message: string): Schema["def"]["read"] {
  return (value, issues) =>
    values.includes(value) ? value : addInvalid(issues, "invalid_value", value, message);
}

/**
 * Makes a schema of the values that a function accepts. It has no JSON Schema.
 *
 * @param message - says what the value must be, or makes a sentence of the value
 */
export function custom<Output = unknown>(
  isFine: (value: unknown) => unknown,
  message?: string | ((value: unknown) => string),
): Schema<Output> {
  return new Schema({
    read: (value, issues) => {
      if (isFine(value)) return value;
      const words = typeof message === "function" ? message(value) : message;
      return addInvalid(issues, "custom", value, words);
    },
    json: () => undescribed("a value that a function checks"),
  });
}

/** Makes a schema of the instances of a class. It has no JSON Schema. */
export function instanceOf<Output>(
  Class: abstract new (...args: never[]) => Output,
): Schema<Output> {
  return new Schema({
    read: (value, issues) =>
      value instanceof Class ? value : addWrongType(issues, Class.name, value),
    json: () => undescribed(`an instance of ${Class.name}`),
  });
}

/** Makes a schema that changes a value before another schema reads it. It has no JSON Schema. */
export function preprocess<Output>(
  change: (value: unknown) => unknown,
  schema: Schema<Output>,
): Schema<Output> {
  return new Schema({
    innerType: schema,
    read: (value, issues) => schema.read(change(value), issues),
    json: () => undescribed("a value that is changed first"),
  });
}

/**
 * Makes a schema of the values of several: of the first that accepts the value.
 *
 * Where a value has the type of just one of them, and only fails its checks, the issues are those of that one.
 *
 * @param message - says what the value must be, when it is of none of the types
 */
export function union<const Options extends readonly Schema[]>(
  options: Options,
  message?: string,
): Schema<Options[number] extends Schema<infer Output> ? Output : never> {
  return new Schema({
    options,
    isOptional: options.some(({ def }) => def.isOptional),
    read: (value, issues) => {
      const failed: { readonly result: unknown; readonly own: FoundIssue[] }[] = [];
      for (const option of options) {
        const own: FoundIssue[] = [];
        const result = option.read(value, own);
        if (own.length === 0) return result;
        if (!isBroken(own, 0)) failed.push({ result, own });
      }
      const [near, ...more] = failed;
      if (near === undefined || more.length > 0)
        return addInvalid(issues, "invalid_union", value, message);
      issues.push(...near.own);
      return near.result;
    },
    json: () => anyOf(options.map(({ def }) => def.json())),
  });
}

function addInvalid(
  issues: FoundIssue[],
  code: "invalid_value" | "invalid_union" | "custom",
  input: unknown,
  message = "Invalid input",
): undefined {
  issues.push({ code, path: [], message, input, isFatal: true });
}

function undescribed(what: string): never {
  throw new InvalidInputError(`JSON Schema cannot describe ${what}`);
}
