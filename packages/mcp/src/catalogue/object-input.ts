import type { JsonObject, ToolInputSchema } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";

/**
 * The input of a tool whose server checks it: here it must be an object and have what the schema requires, so that a call
 * that cannot work is answered before anybody is asked about it. Everything else is the server's to judge; expressions
 * and references of a schema from outside are not run here.
 */
export function objectInput(jsonSchema: JsonObject): ToolInputSchema<Record<string, unknown>> {
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
