import { isObject, type Json, objects } from "../json.js";
import type { OpaqueTokens } from "../opaque-tokens.js";
import { Refusal, refusalOf } from "../refusal.js";
import type { WireRequest } from "../wire-protocol.js";
import type { WireFailure } from "../wire-reply.js";
import { anthropicError, refuse } from "./anthropic-errors.js";
import { checkMessages } from "./anthropic-messages.js";

/** Returns the answer of the Messages API to a request that breaks its rules. */
export function anthropicRefusal(
  request: WireRequest,
  opaqueTokens: OpaqueTokens,
): WireFailure | undefined {
  return refusalOf(() => {
    checkHeaders(request.headers);
    const body: unknown = request.body;
    if (!isObject(body)) return refuse("Input should be a valid dictionary");
    for (const field of ["model", "max_tokens", "messages"])
      if (body[field] === undefined) refuse(`${field}: Field required`);
    if (typeof body["model"] !== "string") refuse("model: Input should be a valid string");
    const maxTokens = body["max_tokens"];
    if (typeof maxTokens !== "number" || maxTokens < 1)
      refuse("max_tokens: Input should be greater than or equal to 1");
    checkSystem(body["system"]);
    checkTools(body["tools"]);
    checkBreakpoints(body);
    const thinking = body["thinking"];
    const thinks = isObject(thinking) && thinking["type"] === "enabled";
    if (thinks && !(Number(thinking["budget_tokens"]) < Number(maxTokens)))
      refuse("`max_tokens` must be greater than `thinking.budget_tokens`.");
    checkMessages(body["messages"], { opaqueTokens, thinks });
  });
}

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  if (headers["x-api-key"] === undefined && headers["authorization"] === undefined)
    throw new Refusal(anthropicError(401, "authentication_error", "x-api-key header is required"));
  if (headers["anthropic-version"] === undefined) refuse("anthropic-version: header is required");
}

function checkSystem(system: unknown): void {
  if (system === undefined || typeof system === "string") return;
  for (const [index, { type, text }] of (objects(system) ?? []).entries()) {
    if (type !== "text") refuse(`system.${index}.type: Input should be 'text'`);
    if (text === "") refuse(`system: text content blocks must be non-empty`);
  }
}

function checkTools(tools: unknown): void {
  if (tools === undefined) return;
  const names = new Set<unknown>();
  for (const [index, tool] of (
    objects(tools) ?? refuse("tools: Input should be a valid list")
  ).entries()) {
    const { name, input_schema: schema, type } = tool;
    if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,128}$/.test(name))
      refuse(`tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    if (names.has(name)) refuse("tools: Tool names must be unique.");
    names.add(name);
    if (type !== undefined && type !== "custom") continue;
    if (!isObject(schema)) refuse(`tools.${index}.custom.input_schema: Field required`);
    else if (schema["type"] !== "object")
      refuse(`tools.${index}.custom.input_schema.type: Input should be 'object'`);
  }
}

/** Counts the cache breakpoints of the whole request. */
function checkBreakpoints(body: Json): void {
  let found = 0;
  JSON.stringify(body, (key, value: unknown) => {
    if (key === "cache_control" && value !== null) found += 1;
    return value;
  });
  if (found > 4)
    refuse(`A maximum of 4 blocks with cache_control may be provided. Found ${found}.`);
}
