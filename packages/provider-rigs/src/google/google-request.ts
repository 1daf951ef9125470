import { isObject, objects } from "../json.js";
import type { OpaqueTokens } from "../opaque-tokens.js";
import { Refusal, refusalOf } from "../refusal.js";
import type { WireRequest } from "../wire-protocol.js";
import type { WireFailure } from "../wire-reply.js";
import { checkContents } from "./google-contents.js";
import { googleError, refuse } from "./google-errors.js";

/** Returns the answer of the Gemini API to a request that breaks its rules. */
export function googleRefusal(
  { path, headers, body }: WireRequest,
  opaqueTokens: OpaqueTokens,
): WireFailure | undefined {
  return refusalOf(() => {
    if (headers["x-goog-api-key"] === undefined)
      throw new Refusal(
        googleError(
          403,
          "PERMISSION_DENIED",
          "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
        ),
      );
    const fields: unknown = body;
    if (!isObject(fields)) return refuse("Invalid JSON payload received.");
    checkTools(fields["tools"]);
    // Only the models from Gemini 3 on insist on signatures.
    const version = Number(/models\/gemini-(\d+)/.exec(path)?.[1] ?? 0);
    checkContents(fields["contents"], { opaqueTokens, needsSignatures: version >= 3 });
  });
}

function checkTools(tools: unknown): void {
  for (const [index, tool] of (objects(tools) ?? []).entries())
    for (const [at, { name, parameters }] of (
      objects(tool["functionDeclarations"]) ?? []
    ).entries()) {
      const where = `tools[${index}].function_declarations[${at}]`;
      if (typeof name !== "string" || !/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(name))
        refuse(
          `* GenerateContentRequest.${where}.name: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.`,
        );
      if (isObject(parameters)) checkSchema(parameters, `${where}.parameters`);
    }
}

/** Words of JSON Schema that Google's schemas do not have. */
const foreignWords = ["$schema", "$ref", "$defs", "additionalProperties", "const"];

function checkSchema(schema: unknown, where: string): void {
  if (!isObject(schema)) return;
  for (const word of foreignWords)
    if (word in schema)
      refuse(
        `Invalid JSON payload received. Unknown name "${word}" at '${where}': Cannot find field.`,
      );
  for (const [name, property] of Object.entries(
    isObject(schema["properties"]) ? schema["properties"] : {},
  ))
    checkSchema(property, `${where}.properties[${name}].value`);
  checkSchema(schema["items"], `${where}.items`);
}
