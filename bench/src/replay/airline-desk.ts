import type { JsonObject, ToolSchema } from "@holdfast/core";
import type { Script } from "./script.js";
import { tokensOf, writeFixedPart } from "./tokens.js";

/** The system prompt of all who are compared. */
export const systemPrompt =
  "You are a customer service agent of an airline. Help customers to book, change and cancel flights. Look up what you need with your tools, confirm with the customer before you change anything, and hand over to a person what you may not do yourself.";

/** Takes whatever was recorded. */
const inputSchema: JsonObject = { type: "object", properties: {}, additionalProperties: true };

/** One schema per tool of the script. */
export function toolSchemas({ toolNames }: Script): ToolSchema[] {
  return toolNames.map((name) => ({
    name,
    description: `The airline's ${name.replaceAll("_", " ")}.`,
    inputSchema,
  }));
}

/** Tokens of system prompt and tools without anybody's additions. */
export function fixedTokens(script: Script): number {
  return tokensOf(writeFixedPart(systemPrompt, toolSchemas(script)));
}
