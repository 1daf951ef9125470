import { isObject } from "../json.js";
import { refusalOf } from "../refusal.js";
import type { Seals } from "../seals.js";
import type { WireRequest } from "../wire-protocol.js";
import type { WireFailure } from "../wire-reply.js";
import type { ItemStore } from "./item-store.js";
import { checkKey, refuse } from "./openai-errors.js";
import { checkTools } from "./openai-tools.js";
import { checkInput } from "./responses-input.js";

/** What the Responses API answers to a request that breaks its rules. */
export function responsesRefusal(
  { headers, body }: WireRequest,
  items: ItemStore,
  seals: Seals,
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
      checkInput(fields["input"], { items, seals, stores: fields["store"] !== false });
  });
}
