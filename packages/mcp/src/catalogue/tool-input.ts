import type { JsonObject, ToolInputSchema } from "@holdfast/core";
import { isRecord, toJsonValue } from "@holdfast/core/plugin-kit";
import { cleanText } from "./clean-text.js";

/** Keys whose contents are values, not schemas. */
const values = new Set(["const", "default", "enum", "examples", "required"]);
/** Keys whose contents are schemas by name; the names are the server's and not keywords. */
const named = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "dependencies",
  "$defs",
  "definitions",
]);
const texts = new Set(["description", "title", "$comment"]);

/** Deepest schema that is shown to a model; those of real tools have fewer than twenty levels. */
const maxDepth = 64;

/** A tool cannot be offered because of its schema; the message says why. */
export class UnusableSchema extends Error {
  override readonly name = "UnusableSchema";
}

/**
 * Returns the input of a server's tool. Its schema is shown to the model unchanged, except that titles, descriptions and
 * comments are cleaned like the tool's own, and that its type is always `object`.
 *
 * @throws UnusableSchema
 */
export function toolInput(
  schema: Readonly<Record<string, unknown>>,
  limits: { readonly maxDescriptionChars: number; readonly maxSchemaChars: number },
): ToolInputSchema<Record<string, unknown>> {
  if (schema["type"] !== undefined && schema["type"] !== "object")
    throw new UnusableSchema("its input is not an object");
  const json = plainSchema(schema);
  const clean = cleanSchema(
    { properties: {}, ...json, type: "object" },
    limits.maxDescriptionChars,
  );
  if (JSON.stringify(clean).length > limits.maxSchemaChars)
    throw new UnusableSchema(`its input schema has more than ${limits.maxSchemaChars} characters`);
  return objectInput(clean);
}

/** Returns a schema with cleaned titles, descriptions and comments. */
export function cleanSchema(schema: JsonObject, maxChars: number): JsonObject {
  return cleaned(schema, maxChars) as JsonObject;
}

function plainSchema(schema: Readonly<Record<string, unknown>>): JsonObject {
  try {
    return toJsonValue(schema, "the schema", maxDepth) as JsonObject;
  } catch (error) {
    // It came as JSON: nothing else can be wrong with it.
    throw new UnusableSchema(`its input schema is nested deeper than ${maxDepth} levels`, {
      cause: error,
    });
  }
}

function cleaned(value: unknown, maxChars: number): unknown {
  if (Array.isArray(value)) return value.map((item) => cleaned(item, maxChars));
  return mapped(value, (item, key) => {
    if (values.has(key)) return item;
    if (texts.has(key) && typeof item === "string") return cleanText(item, maxChars);
    return named.has(key)
      ? mapped(item, (schema) => cleaned(schema, maxChars))
      : cleaned(item, maxChars);
  });
}

function mapped(value: unknown, change: (item: unknown, key: string) => unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(item, key)]));
}

/**
 * Checks only that the input is an object with the required properties, so that a call that cannot work is refused before
 * anyone is asked to confirm it. The server checks the rest: patterns and references of a foreign schema are not evaluated
 * here.
 */
function objectInput(jsonSchema: JsonObject): ToolInputSchema<Record<string, unknown>> {
  const { required } = jsonSchema;
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  return {
    jsonSchema,
    schema: {
      "~standard": {
        version: 1,
        vendor: "holdfast-mcp",
        validate(value) {
          if (!isRecord(value)) return { issues: [{ message: "must be an object" }] };
          const missing = names.filter((name) => !Object.hasOwn(value, name));
          return missing.length > 0
            ? { issues: missing.map((name) => ({ message: "is required", path: [name] })) }
            : { value };
        },
      },
    },
  };
}
