import type { Tool } from "@holdfast/core";
import { z } from "zod";
import { CallStates } from "../call-states.js";
import { wishedSlot } from "../caller.js";
import { type SessionToolParts, sessionTool } from "../session-tool.js";
import { HISTORY } from "../tool-names.js";
import { dataPage } from "./data-page.js";
import { findMessage } from "./find-message.js";
import { messagePage } from "./message-page.js";
import { DEFAULT_MESSAGES, overview } from "./overview.js";

/** Most messages of one page. */
const MAX_MESSAGES = 100;

/** One more than a position must be a number that is exact. */
const position = z
  .int()
  .min(-1)
  .max(Number.MAX_SAFE_INTEGER - 1);

const input = z.object({
  sessionId: z.string().optional().describe("As session_list names it; this session by default"),
  agentId: z.string().optional().describe("Another agent of the same user"),
  lastN: z.int().min(1).max(MAX_MESSAGES).default(DEFAULT_MESSAGES).describe("How many messages"),
  before: position.optional().describe("Only messages before this position; the last of them"),
  after: position.optional().describe("Only messages after this position; the first of them"),
  at: position.optional().describe("Show the one message at this position, whole, page by page"),
  offset: z
    .int()
    .min(0)
    .optional()
    .describe("With `at`: the first character to show; 0 by default"),
  data: z
    .int()
    .min(0)
    .optional()
    .describe("With `at`: give back the image or file that is shown as [data <number>: …]"),
  includeDiscarded: z
    .boolean()
    .optional()
    .describe("Also what calls said that conflicted or were rolled back; false by default"),
});

/** The tool `session_history`. */
export function sessionHistoryTool(parts: SessionToolParts): Tool {
  const { log, settings } = parts;
  return sessionTool(parts, {
    name: HISTORY,
    description: `Shows what was said in a conversation, also what is no longer in your context: messages with thinking, tool calls and results, oldest first, each with its position. Long messages are cut to ${settings.previewChars} characters; \`at\` with the position shows one whole, page by page. Every answer says how to get the next page.`,
    input,
    async run(request, caller, clock) {
      const slot = wishedSlot(caller, request);
      const states = new CallStates(log, caller, clock, request.includeDiscarded);
      const reading = { log, slot, caller, clock, states, settings };
      if (request.at === undefined) return overview(reading, request);
      const found = await findMessage(reading, request.at);
      return request.data === undefined
        ? messagePage(reading, found, request)
        : dataPage(reading, found, { ...request, data: request.data });
    },
  });
}
