import { isObject } from "../json.js";
import type { OpaqueTokens } from "../opaque-tokens.js";
import { refusalOf } from "../refusal.js";
import type { WireRequest } from "../wire-protocol.js";
import type { WireFailure } from "../wire-reply.js";
import type { ItemStore } from "./item-store.js";
import { checkKey, refuse } from "./openai-errors.js";
import { checkTools } from "./openai-tools.js";
import { checkInput } from "./responses-input.js";

/** Returns the answer of the Responses API to a request that breaks its rules. */
export function responsesRefusal(
  { headers, body }: WireRequest,
  items: ItemStore,
  opaqueTokens: OpaqueTokens,
): WireFailure | undefined {
  return refusalOf(() => {
    checkKey(headers);
    const fields: unknown = body;
    if (!isObject(fields)) return refuse("Invalid type: expected an object.");
    for (const name of ["model", "input"])
      if (fields[name] === undefined)
        refuse(`Missing required parameter: '${name}'.`, name, "missing_required_parameter");
    checkTools(fields["tools"], (tool) => tool);
    if (typeof fields["input"] !== "string")
      checkInput(fields["input"], { items, opaqueTokens, stores: fields["store"] !== false });
  });
}
