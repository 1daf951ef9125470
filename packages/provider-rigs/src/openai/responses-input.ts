import { type Json, objects } from "../json.js";
import type { OpaqueTokens } from "../opaque-tokens.js";
import { Refusal } from "../refusal.js";
import type { ItemStore } from "./item-store.js";
import { openAiError, refuse } from "./openai-errors.js";

/** Facts that the rules for input items depend on. */
export interface InputRules {
  readonly items: ItemStore;
  readonly opaqueTokens: OpaqueTokens;
  /** True when the request lets items be stored. */
  readonly stores: boolean;
}

const prefixes: Readonly<Record<string, string>> = {
  message: "msg",
  function_call: "fc",
  reasoning: "rs",
};
const partsOf: Readonly<Record<string, readonly string[]>> = {
  user: ["input_text", "input_image", "input_file"],
  system: ["input_text"],
  developer: ["input_text"],
  assistant: ["output_text", "refusal"],
};

/** Checks the items of a request, what they refer to, and which of them need each other. */
export function checkInput(input: unknown, rules: InputRules): void {
  const list = objects(input) ?? refuse("Invalid type for 'input'.", "input", "invalid_type");
  const items = list.map((item, index) => resolved(item, index, rules));
  for (const [index, item] of items.entries()) checkItem(item, `input[${index}]`, rules);
  checkDuplicates(items);
  checkReasoning(items, rules.items);
  checkCalls(items);
}

/** The item itself, where there is only a reference to it. */
function resolved(item: Json, index: number, { items, stores }: InputRules): Json {
  const { type, id } = item;
  const where = `input[${index}]`;
  if (type === undefined && item["role"] !== undefined) return { type: "message", ...item };
  if (type !== "item_reference") return item;
  const known = items.get(id);
  if (typeof id !== "string")
    refuse(
      `Missing required parameter: '${where}.id'.`,
      `${where}.id`,
      "missing_required_parameter",
    );
  if (known?.stored) return known.item;
  throw notFound(id, known !== undefined || !stores);
}

function notFound(id: unknown, unstored: boolean): Refusal {
  const why = unstored
    ? " Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."
    : "";
  return new Refusal(openAiError(404, `Item with id '${id}' not found.${why}`, { param: "input" }));
}

function checkItem(item: Json, where: string, { items, opaqueTokens }: InputRules): void {
  const { type, id } = item;
  const prefix = prefixes[String(type)];
  if (type === "message") checkMessage(item, where);
  else if (type === "function_call") {
    for (const field of ["call_id", "name", "arguments"]) checkString(item, field, where);
  } else if (type === "function_call_output") {
    checkString(item, "call_id", where);
    if (typeof item["output"] !== "string") checkParts(item["output"], "user", `${where}.output`);
  } else if (type === "reasoning") {
    const token = item["encrypted_content"];
    if (typeof token === "string") checkSealed(token, String(id), opaqueTokens);
    else if (!items.get(id)?.stored) throw notFound(id, true);
  } else if (type !== "image_generation_call")
    refuse(`Invalid value: '${type}'.`, `${where}.type`, "invalid_value");
  if (id !== undefined && prefix !== undefined && !String(id).startsWith(`${prefix}_`))
    refuse(
      `Invalid '${where}.id': '${id}'. Expected an ID that begins with '${prefix}'.`,
      `${where}.id`,
      "invalid_value",
    );
}

function checkString(item: Json, field: string, where: string): void {
  const value = item[field];
  if (typeof value !== "string" || value === "")
    refuse(
      `Missing required parameter: '${where}.${field}'.`,
      `${where}.${field}`,
      "missing_required_parameter",
    );
  if (field === "call_id" && String(value).length > 64)
    refuse(
      `Invalid '${where}.call_id': string too long. Expected a string with maximum length 64, but got a string with length ${String(value).length} instead.`,
      `${where}.call_id`,
      "string_above_max_length",
    );
}

function checkMessage({ role, content }: Json, where: string): void {
  if (partsOf[String(role)] === undefined)
    refuse(
      `Invalid value: '${role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`,
      `${where}.role`,
      "invalid_value",
    );
  if (typeof content !== "string") checkParts(content, String(role), `${where}.content`);
}

function checkParts(content: unknown, role: string, where: string): void {
  const allowed = partsOf[role] ?? [];
  const parts = objects(content) ?? refuse(`Invalid type for '${where}'.`, where, "invalid_type");
  for (const [index, { type }] of parts.entries())
    if (!allowed.includes(String(type)))
      refuse(
        `Invalid value: '${type}'. Supported values are: ${allowed.map((name) => `'${name}'`).join(", ")}.`,
        `${where}[${index}].type`,
        "invalid_value",
      );
}

function checkSealed(token: string, id: string, opaqueTokens: OpaqueTokens): void {
  if (opaqueTokens.check(token) !== "valid")
    refuse(
      `The encrypted content for item ${id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
      undefined,
      "invalid_encrypted_content",
    );
}

function checkDuplicates(items: readonly Json[]): void {
  const ids = new Set<unknown>();
  for (const { id } of items) {
    if (id !== undefined && ids.has(id))
      refuse(
        `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
        "input",
      );
    ids.add(id);
  }
}

/** Reasoning comes right before what it led to; what was said after reasoning comes with it when it is named by its id. */
function checkReasoning(items: readonly Json[], store: ItemStore): void {
  for (const [index, item] of items.entries()) {
    const { type, id } = item;
    const next = items[index + 1];
    if (type === "reasoning" && !isOutput(next))
      refuse(
        `Item '${id}' of type 'reasoning' was provided without its required following item.`,
        "input",
      );
    const known = store.get(id);
    const needed = known?.stored ? known.reasoning : undefined;
    if (needed !== undefined && items[index - 1]?.["id"] !== needed)
      refuse(
        `Item '${id}' of type '${type}' was provided without its required 'reasoning' item: '${needed}'.`,
        "input",
      );
  }
}

function isOutput(item: Json | undefined): boolean {
  if (item === undefined || item["type"] === "function_call_output") return false;
  return item["type"] !== "message" || item["role"] === "assistant";
}

function checkCalls(items: readonly Json[]): void {
  const open = new Set<unknown>();
  for (const { type, call_id: id } of items) {
    if (type === "function_call") open.add(id);
    if (type === "function_call_output" && !open.delete(id))
      refuse(`No tool call found for function call output with call_id ${id}.`, "input");
  }
  for (const id of open) refuse(`No tool output found for function call ${id}.`, "input");
}
