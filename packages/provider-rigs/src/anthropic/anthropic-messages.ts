import { type Json, objects } from "../json.js";
import type { OpaqueTokens } from "../opaque-tokens.js";
import { refuse } from "./anthropic-errors.js";

/** Facts that the rules for messages depend on. */
export interface MessageRules {
  readonly opaqueTokens: OpaqueTokens;
  /** True when thinking is enabled for the request. */
  readonly thinks: boolean;
}

const blocksOfUser = ["text", "image", "document", "tool_result"];
const blocksOfAssistant = ["text", "thinking", "redacted_thinking", "tool_use"];

/** Checks roles, blocks and the pairs of tool calls and results. */
export function checkMessages(value: unknown, rules: MessageRules): void {
  const messages = objects(value) ?? refuse("messages: Input should be a valid list");
  if (messages.length === 0) refuse("messages: at least one message is required");
  const ids = new Set<unknown>();
  let open: readonly unknown[] = [];
  for (const [index, message] of messages.entries()) {
    const { role } = message;
    if (role !== "user" && role !== "assistant")
      refuse(`messages.${index}.role: Input should be 'user' or 'assistant'`);
    if (index === 0 && role !== "user") refuse('messages: first message must use the "user" role');
    if (role === messages[index - 1]?.["role"])
      refuse(
        `messages: roles must alternate between "user" and "assistant", but found multiple "${role}" roles in a row`,
      );
    const blocks = contentOf(message, index, index === messages.length - 1);
    for (const [position, block] of blocks.entries())
      checkBlock(block, `messages.${index}.content.${position}`, String(role), rules, ids);
    checkPairs(blocks, open, index);
    open = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id);
  }
  if (open.length > 0) refuse(unanswered(open, messages.length - 1));
  if (rules.thinks) checkThinkingKept(messages);
}

function contentOf(message: Json, index: number, isLast: boolean): readonly Json[] {
  const { role, content } = message;
  const blocks =
    typeof content === "string"
      ? content === ""
        ? []
        : [{ type: "text", text: content }]
      : (objects(content) ?? refuse(`messages.${index}.content: Input should be a valid list`));
  if (blocks.length === 0 && !(isLast && role === "assistant"))
    refuse(
      `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
    );
  const last = blocks.at(-1)?.["text"];
  if (isLast && role === "assistant" && typeof last === "string" && last !== last.trimEnd())
    refuse("messages: final assistant content cannot end with trailing whitespace");
  return blocks;
}

function checkBlock(
  block: Json,
  where: string,
  role: string,
  { opaqueTokens }: MessageRules,
  ids: Set<unknown>,
): void {
  const { type } = block;
  const allowed = role === "user" ? blocksOfUser : blocksOfAssistant;
  if (!allowed.includes(String(type)))
    refuse(`${where}.type: Input tag '${type}' found is not one of the expected tags`);
  if (type === "text" && (typeof block["text"] !== "string" || block["text"].trim() === ""))
    refuse(
      block["text"] === ""
        ? "messages: text content blocks must be non-empty"
        : "messages: text content blocks must contain non-whitespace text",
    );
  if (type === "thinking") checkSignature(block, where, opaqueTokens);
  if (type === "redacted_thinking" && opaqueTokens.check(String(block["data"])) !== "valid")
    refuse(`${where}: Invalid \`data\` in \`redacted_thinking\` block`);
  if (type !== "tool_use") return;
  if (typeof block["id"] !== "string" || !/^[a-zA-Z0-9_-]+$/.test(block["id"]))
    refuse(`${where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  if (typeof block["input"] !== "object" || block["input"] === null)
    refuse(`${where}.tool_use.input: Input should be a valid dictionary`);
  if (ids.has(block["id"])) refuse("messages: `tool_use` ids must be unique");
  ids.add(block["id"]);
}

function checkSignature(block: Json, where: string, opaqueTokens: OpaqueTokens): void {
  if (typeof block["signature"] !== "string") refuse(`${where}.thinking.signature: Field required`);
  const state = opaqueTokens.check(String(block["signature"]), String(block["thinking"]));
  if (state === "unknown") refuse(`${where}: Invalid \`signature\` in \`thinking\` block`);
  if (state === "altered")
    refuse(
      `${where}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
    );
}

/** Results stand first in the message right after their calls, one for each. */
function checkPairs(blocks: readonly Json[], open: readonly unknown[], index: number): void {
  const results = blocks.filter(({ type }) => type === "tool_result").map((b) => b["tool_use_id"]);
  for (const [position, id] of results.entries()) {
    if (!open.includes(id))
      refuse(
        `messages.${index}.content.${position}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    if (results.indexOf(id) !== position)
      refuse(
        `messages.${index}.content.${position}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      );
  }
  const first = blocks.slice(0, results.length).every(({ type }) => type === "tool_result");
  const missing = open.filter((id) => !first || !results.includes(id));
  if (missing.length > 0) refuse(unanswered(missing, index - 1));
}

function unanswered(ids: readonly unknown[], index: number): string {
  return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
}

/** While a turn with tools goes on, the thinking it began with must come back; its later steps need not think anew. */
function checkThinkingKept(messages: readonly Json[]): void {
  const blocks = (index: number): readonly Json[] => objects(messages.at(index)?.["content"]) ?? [];
  let begin = messages.length;
  while (blocks(begin - 1).some(({ type }) => type === "tool_result")) begin -= 2;
  if (begin === messages.length) return;
  const first = blocks(begin)[0]?.["type"];
  if (first !== "thinking" && first !== "redacted_thinking")
    refuse(
      `messages.${begin}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
    );
}
