import { isObject, type Json, objects } from "../json.js";
import type { OpaqueTokens } from "../opaque-tokens.js";
import { refuse } from "./google-errors.js";

/** Facts that the rules for contents depend on. */
export interface ContentRules {
  readonly opaqueTokens: OpaqueTokens;
  /** True when calls of the current turn must come back with their signature. */
  readonly needsSignatures: boolean;
}

/** Values a client may send in place of a signature it never got. */
const unchecked = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/** Checks roles, parts, signatures, and the turns of function calls and responses. */
export function checkContents(value: unknown, rules: ContentRules): void {
  const contents = objects(value) ?? [];
  if (contents.length === 0) refuse("* GenerateContentRequest.contents: contents is not specified");
  const turnStart = contents.findLastIndex(isUserText);
  let pending: readonly string[] = [];
  for (const [index, { role, parts }] of contents.entries()) {
    if (role !== "user" && role !== "model" && role !== undefined)
      refuse("Please use a valid role: user, model.");
    const list = objects(parts) ?? [];
    if (list.length === 0)
      refuse(
        `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.`,
      );
    for (const [at, part] of list.entries())
      checkPart(part, `contents[${index}].parts[${at}]`, rules.opaqueTokens);
    const calls = namesIn(list, "functionCall");
    checkTurn(calls, namesIn(list, "functionResponse"), pending, index);
    if (rules.needsSignatures && index > turnStart) checkSigned(list, index);
    pending = calls;
  }
  if (pending.length > 0) refuse(unequal);
}

function isUserText({ role, parts }: Json): boolean {
  return role === "user" && (objects(parts) ?? []).some((part) => "text" in part);
}

function namesIn(parts: readonly Json[], kind: string): string[] {
  return parts.flatMap((part) => {
    const named = part[kind];
    return isObject(named) ? [String(named["name"])] : [];
  });
}

function checkPart(part: Json, where: string, opaqueTokens: OpaqueTokens): void {
  const kinds = ["text", "inlineData", "fileData", "functionCall", "functionResponse"];
  if (kinds.filter((kind) => part[kind] !== undefined).length !== 1)
    refuse(
      `* GenerateContentRequest.${where}.data: required oneof field 'data' must have one initialized field`,
    );
  const signature = part["thoughtSignature"];
  if (typeof signature !== "string" || unchecked.includes(signature)) return;
  if (Buffer.from(signature, "base64").toString("base64") !== signature)
    refuse(
      `Invalid value at '${where}.thought_signature' (TYPE_BYTES), Base64 decoding failed for "${signature}"`,
    );
  if (opaqueTokens.check(signature) !== "valid") refuse("Corrupted thought signature.");
}

const unequal =
  "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";

/** Responses come in the turn right after their calls, as many and of the same names. */
function checkTurn(
  calls: readonly string[],
  responses: readonly string[],
  pending: readonly string[],
  index: number,
): void {
  if (responses.length > 0 && pending.length === 0)
    refuse(
      "Please ensure that function response turn comes immediately after a function call turn.",
    );
  if (responses.length !== pending.length) refuse(unequal);
  if (responses.some((name) => !pending.includes(name)))
    refuse("Please ensure that the function response names match the names of the function calls.");
  if (calls.length > 0 && index === 0)
    refuse(
      "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    );
}

function checkSigned(parts: readonly Json[], index: number): void {
  const first = parts.find((part) => part["functionCall"] !== undefined);
  const call = first?.["functionCall"];
  if (isObject(call) && first?.["thoughtSignature"] === undefined)
    refuse(
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${call["name"]}\` , position ${index + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
    );
}
