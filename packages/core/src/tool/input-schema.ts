import { createRequire } from "node:module";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { ConfigurationError } from "../errors/errors.js";
import { messageOf } from "../errors/message-of.js";
import { isRecord, type JsonObject, toJsonValue } from "../json/json.js";

/** Standard Schema that can describe itself as JSON Schema (zod 4 can), or one with its JSON Schema beside it. */
export type ToolInputSchema<Output = unknown> =
  | StandardSchemaV1<unknown, Output>
  | { readonly schema: StandardSchemaV1<unknown, Output>; readonly jsonSchema: JsonObject };

/** Type of a value that a {@link ToolInputSchema} has validated. */
export type InferInput<S> = S extends { readonly schema: infer T extends StandardSchemaV1 }
  ? StandardSchemaV1.InferOutput<T>
  : S extends StandardSchemaV1
    ? StandardSchemaV1.InferOutput<S>
    : never;

/** Validated value, or a problem in words a model can act on. */
export type Validation =
  | { readonly value: unknown; readonly problem?: undefined }
  | { readonly problem: string };

/** Validates a value; a schema that throws counts as one that did not accept it. */
export async function validateInput(schema: ToolInputSchema, value: unknown): Promise<Validation> {
  let result: StandardSchemaV1.Result<unknown>;
  try {
    result = await standardOf(schema)["~standard"].validate(value);
  } catch (error) {
    return { problem: messageOf(error) };
  }
  if (!result.issues) return { value: result.value };
  return {
    problem: result.issues
      .map((issue) => {
        const path = (issue.path ?? [])
          .map((part) => String(typeof part === "object" ? part.key : part))
          .join(".");
        return path === "" ? issue.message : `${path}: ${issue.message}`;
      })
      .join("; "),
  };
}

/**
 * Returns the JSON Schema that a model is shown.
 *
 * @param where - name of the tool in the error
 * @throws ConfigurationError when there is no schema, or it cannot describe itself
 */
export function jsonSchemaOf(schema: ToolInputSchema, where: string): JsonObject {
  if (!isToolInputSchema(schema))
    throw new ConfigurationError(
      isShape(schema)
        ? `the input of ${where} is a plain object of schemas; wrap it in z.object({…})`
        : `the input of ${where} is neither a Standard Schema nor { schema, jsonSchema }`,
    );
  try {
    const described = "~standard" in schema ? describe(schema) : schema.jsonSchema;
    if (described !== undefined) {
      const { $schema: _, ...rest } = described;
      return toJsonValue(rest, where) as JsonObject;
    }
  } catch (cause) {
    throw new ConfigurationError(
      `the input schema of ${where} cannot be written as JSON Schema; pass { schema, jsonSchema }`,
      { cause },
    );
  }
  throw new ConfigurationError(
    `the input schema of ${where} (${standardOf(schema)["~standard"].vendor}) does not describe itself as JSON Schema; pass { schema, jsonSchema }`,
  );
}

// "~standard" first: schemas of some libraries have a property named "schema".
function standardOf(schema: ToolInputSchema): StandardSchemaV1 {
  return "~standard" in schema ? schema : schema.schema;
}

function isToolInputSchema(value: unknown): boolean {
  return (
    isStandardSchema(value) ||
    (isRecord(value) && isStandardSchema(value["schema"]) && isRecord(value["jsonSchema"]))
  );
}

/** Tells whether a value holds a schema per key, as what `z.object` takes does. */
function isShape(value: unknown): boolean {
  // With a key "schema" it may as well be a { schema, jsonSchema } that lacks the latter.
  const fields = isRecord(value) && !("schema" in value) ? Object.values(value) : [];
  return fields.length > 0 && fields.every(isStandardSchema);
}

/** Accepts functions too: schemas of some libraries are functions. */
function isStandardSchema(value: unknown): boolean {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    "~standard" in value
  );
}

function describe(schema: StandardSchemaV1): Record<string, unknown> | undefined {
  const props: unknown = schema["~standard"];
  if (!isRecord(props)) return undefined;
  const own = props["jsonSchema"];
  if (isRecord(own) && typeof own["input"] === "function")
    return own["input"]({ target: "draft-2020-12" }) as Record<string, unknown>;
  return props["vendor"] === "zod" ? describeByZod(schema) : undefined;
}

/**
 * Describes a schema of zod that does not do it by itself: of `zod/mini`, or of a release before 4.2. Only such a schema loads
 * zod here, and on demand: a bundler does not see it, and there may be no packages beside a bundle.
 */
function describeByZod(schema: StandardSchemaV1): Record<string, unknown> | undefined {
  // There is none in zod 3.
  let zod: { toJSONSchema?(schema: unknown, options: object): Record<string, unknown> };
  try {
    zod = createRequire(import.meta.url)("zod");
  } catch {
    return undefined;
  }
  return zod.toJSONSchema?.(schema, { io: "input" });
}
