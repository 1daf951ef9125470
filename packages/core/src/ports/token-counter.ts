import type { Message } from "../message/message.js";
import type { ToolSchema } from "./model.js";

/**
 * Counts tokens.
 *
 * Contract:
 * - The same input always has the same count.
 * - Counting a list costs no more than counting the messages in it that were not counted before.
 */
export interface TokenCounter {
  readonly id: string;
  countText(text: string): number;
  countMessages(messages: readonly Message[]): number;
  countTools(tools: readonly ToolSchema[]): number;
}
