import { isObject, type Json, objects } from "../json.js";
import { refusalOf } from "../refusal.js";
import type { WireRequest } from "../wire-protocol.js";
import type { WireFailure } from "../wire-reply.js";
import { checkKey, refuse } from "./openai-errors.js";
import { checkTools } from "./openai-tools.js";

const roles = ["system", "developer", "user", "assistant", "tool"];

/** Returns the answer of the Chat Completions API to a request that breaks its rules. */
export function chatRefusal({ headers, body }: WireRequest): WireFailure | undefined {
  return refusalOf(() => {
    checkKey(headers);
    const fields: unknown = body;
    if (!isObject(fields)) return refuse("Invalid type: expected an object.");
    for (const name of ["model", "messages"])
      if (fields[name] === undefined)
        refuse(`Missing required parameter: '${name}'.`, name, "missing_required_parameter");
    checkTools(fields["tools"], (tool) => tool["function"]);
    checkMessages(fields["messages"]);
  });
}

function checkMessages(value: unknown): void {
  const messages = objects(value) ?? refuse("Invalid type for 'messages'.", "messages");
  if (messages.length === 0) refuse("Invalid 'messages': empty array.", "messages", "empty_array");
  let open = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const { role, tool_calls: calls } = message;
    const where = `messages[${index}]`;
    if (!roles.includes(String(role)))
      refuse(`Invalid value: '${role}'.`, `${where}.role`, "invalid_value");
    if (role === "tool") {
      if (!open.delete(message["tool_call_id"]))
        refuse(
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          `${where}.role`,
        );
      continue;
    }
    if (open.size > 0) unanswered(open, where);
    checkContent(message, where);
    open = new Set(objects(calls)?.map((call, at) => callId(call, `${where}.tool_calls[${at}]`)));
  }
  if (open.size > 0) unanswered(open, `messages[${messages.length - 1}]`);
}

function checkContent({ role, content, tool_calls: calls }: Json, where: string): void {
  const isMissing = content === undefined || content === null;
  if (isMissing && (role !== "assistant" || calls === undefined))
    refuse(
      `Invalid value for 'content': expected a string, got null.`,
      `${where}.content`,
      "invalid_type",
    );
  if (isMissing || typeof content === "string") return;
  for (const { type } of objects(content) ?? refuse(`Invalid '${where}.content'.`, where))
    if (!["text", "image_url", "input_audio", "file", "refusal"].includes(String(type)))
      refuse(`Invalid value: '${type}'.`, `${where}.content`, "invalid_value");
  if (objects(content)?.length === 0)
    refuse(`Invalid '${where}.content': empty array.`, `${where}.content`, "empty_array");
}

function callId({ id, function: called, type }: Json, where: string): unknown {
  if (type !== "function" || !isObject(called) || typeof called["arguments"] !== "string")
    refuse(`Missing required parameter: '${where}.function'.`, where, "missing_required_parameter");
  if (typeof id !== "string" || id.length > 40)
    refuse(
      `Invalid '${where}.id': string too long. Expected a string with maximum length 40, but got a string with length ${String(id).length} instead.`,
      `${where}.id`,
      "string_above_max_length",
    );
  return id;
}

function unanswered(open: ReadonlySet<unknown>, where: string): never {
  return refuse(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(", ")}`,
    where,
  );
}
