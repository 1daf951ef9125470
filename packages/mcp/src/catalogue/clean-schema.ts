import { isRecord, type JsonObject, toJsonValue } from "@holdfast/core";
import { cleanText } from "./clean-text.js";

/** Under these keys stand values, not schemas. */
const values = new Set(["const", "default", "enum", "examples", "required"]);

/** Why a tool cannot be offered, in words. */
export class UnusableSchema extends Error {
  override readonly name = "UnusableSchema";
}

/**
 * A server's input schema as it is shown to a model: the same, but for its titles and descriptions, which are cleaned as
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
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (values.has(key)) return [key, item];
      if ((key === "description" || key === "title") && typeof item === "string")
        return [key, cleanText(item, maxChars)];
      return [key, cleaned(item, maxChars)];
    }),
  );
}
