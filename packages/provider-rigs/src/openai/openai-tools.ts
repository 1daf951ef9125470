import { isObject, type Json, objects } from "../json.js";
import { refuse } from "./openai-errors.js";

/**
 * Checks function tools.
 *
 * @param functionOf - where a tool keeps its name and parameters: the two APIs differ
 */
export function checkTools(tools: unknown, functionOf: (tool: Json) => unknown): void {
  if (tools === undefined) return;
  const list = objects(tools) ?? refuse("Invalid type for 'tools': expected an array.", "tools");
  for (const [index, tool] of list.entries()) {
    const where = `tools[${index}]`;
    if (tool["type"] !== "function")
      refuse(`Invalid value: '${tool["type"]}'.`, `${where}.type`, "invalid_value");
    const declared = functionOf(tool);
    if (!isObject(declared))
      refuse(
        `Missing required parameter: '${where}.function'.`,
        where,
        "missing_required_parameter",
      );
    else checkFunction(declared, where);
  }
}

function checkFunction({ name, parameters, strict }: Json, where: string): void {
  if (typeof name !== "string" || !/^[a-zA-Z0-9_-]+$/.test(name))
    refuse(
      `Invalid '${where}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
      `${where}.name`,
      "invalid_value",
    );
  if (String(name).length > 64)
    refuse(`Invalid '${where}.name': string too long.`, `${where}.name`, "string_above_max_length");
  const schema = isObject(parameters) ? parameters : {};
  if (schema["type"] !== "object")
    refuse(
      `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"', got 'type: "${schema["type"] ?? "None"}"'.`,
      `${where}.parameters`,
      "invalid_function_parameters",
    );
  if (strict === true && schema["additionalProperties"] !== false)
    refuse(
      `Invalid schema for function '${name}': In context=(), 'additionalProperties' is required to be supplied and to be false.`,
      `${where}.parameters`,
      "invalid_function_parameters",
    );
}
