import type { TextBlock, Tool } from "@holdfast/core";
import * as s from "@holdfast/core/plugin-kit/schema";
import { CallRemarks } from "../call-remarks.js";
import { requestedSlot } from "../caller.js";
import { BlobReader } from "../render/blob-reader.js";
import { readPage } from "../render/read-page.js";
import { renderMessage } from "../render/render-message.js";
import { type SessionToolParts, sessionTool } from "../session-tool.js";
import { HISTORY } from "../tool-calls.js";
import { dataPage } from "./data-page.js";
import { DEFAULT_MESSAGES, overview } from "./overview.js";
import { type FoundMessage, findMessage, historyCall, pastEnd, type Reading } from "./reading.js";
import { messageOrigin } from "./record-head.js";

/** Most messages of one page. */
const MAX_MESSAGES = 100;

/** Position in a log; the number after it must be exact, too. */
const position = s
  .int()
  .min(-1)
  .max(Number.MAX_SAFE_INTEGER - 1);

const input = s.object({
  sessionId: s
    .string()
    .optional()
    .describe("Id of the session, from session_list; this session by default"),
  agentId: s.string().optional().describe("Another agent of the same user"),
  lastN: s.int().min(1).max(MAX_MESSAGES).default(DEFAULT_MESSAGES).describe("Number of messages"),
  before: position.optional().describe("Show the last messages before this position"),
  after: position.optional().describe("Show the first messages after this position"),
  around: position
    .optional()
    .describe("Show the messages before and after this position, such as one from session_search"),
  at: position.optional().describe("Show only the message at this position, in full, page by page"),
  offset: s.int().min(0).optional().describe("With `at`: first character to show; 0 by default"),
  data: s
    .int()
    .min(0)
    .optional()
    .describe("With `at`: return the image or file shown as [data <number>: …]"),
  includeDiscarded: s
    .boolean()
    .optional()
    .describe("Include messages of calls that conflicted or were rolled back; false by default"),
});

/** Creates the tool `session_history`. */
export function sessionHistoryTool(parts: SessionToolParts): Tool {
  const { log, settings } = parts;
  return sessionTool(parts, {
    name: HISTORY,
    description: `Shows what was said in a conversation, including what is no longer in your context: messages with thinking, tool calls and results, oldest first, each with its position. Long messages are cut to ${settings.previewChars} characters; \`at\` with a position shows one in full, page by page. Every answer says how to get the next page.`,
    input,
    async run(request, caller, clock) {
      const slot = requestedSlot(caller, request);
      const remarks = new CallRemarks(parts, caller, clock, request.includeDiscarded);
      const reading = { log, slot, caller, clock, remarks, settings };
      if (request.at === undefined) return overview(reading, request);
      const found = await findMessage(reading, request.at);
      return request.data === undefined
        ? messagePage(reading, found, request)
        : dataPage(reading, found, { ...request, data: request.data });
    },
  });
}

/**
 * Returns a page of one message in a block of its own, so that the pages joined are the whole message; a second block says
 * which page it is.
 *
 * @throws InvalidInputError for an offset past the end
 */
async function messagePage(
  reading: Reading,
  { record, remark }: FoundMessage,
  input: { readonly offset?: number | undefined; readonly includeDiscarded?: boolean | undefined },
): Promise<readonly TextBlock[]> {
  const { log, slot, clock, settings } = reading;
  const { offset = 0, includeDiscarded } = input;
  const blobs = new BlobReader(log, slot, clock);
  const { whole } = renderMessage(record);
  const page = await readPage(blobs, whole, offset, settings.maxPageChars);
  if (page.text === "") throw pastEnd(`the message at ${record.seq}`, page.end, offset);
  const origin = messageOrigin(record, remark);
  const shown = `Position ${record.seq}, ${origin}; characters ${page.start} to ${page.end}`;
  const next = page.isLast
    ? "End of the message."
    : `Go on: ${historyCall(reading, { at: record.seq, offset: page.end }, includeDiscarded)}.`;
  return [
    { type: "text", text: page.text },
    { type: "text", text: `[${shown}. ${next}]` },
  ];
}
