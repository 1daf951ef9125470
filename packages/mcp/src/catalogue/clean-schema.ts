import type { JsonObject } from "@holdfast/core";
import { isRecord, toJsonValue } from "@holdfast/core/plugin-kit";
import { cleanText } from "./clean-text.js";

/** Under these keys stand values, not schemas. */
const values = new Set(["const", "default", "enum", "examples", "required"]);
/** Under these keys stand schemas by names of the server's choice, which mean nothing here. */
const named = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "dependencies",
  "$defs",
  "definitions",
]);
const texts = new Set(["description", "title", "$comment"]);

/** Why a tool cannot be offered, in words. */
export class UnusableSchema extends Error {
  override readonly name = "UnusableSchema";
}

/**
 * A server's input schema as it is shown to a model: the same, but for its titles, descriptions and comments, which are cleaned as
 * the tool's own, and for an object it always is.
 *
 * @throws UnusableSchema
 */
export function cleanSchema(
  schema: Readonly<Record<string, unknown>>,
  limits: { readonly maxDescriptionChars: number; readonly maxSchemaChars: number },
): JsonObject {
  if (schema["type"] !== undefined && schema["type"] !== "object")
    throw new UnusableSchema("its input is not an object");
  const json = toJsonValue(schema, "the schema") as JsonObject;
  const clean = cleaned({ properties: {}, ...json, type: "object" }, limits.maxDescriptionChars);
  if (JSON.stringify(clean).length > limits.maxSchemaChars)
    throw new UnusableSchema(`its input schema has more than ${limits.maxSchemaChars} characters`);
  return clean as JsonObject;
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
