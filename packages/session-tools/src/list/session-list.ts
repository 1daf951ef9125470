import type { Tool } from "@holdfast/core";
import type { LogSession } from "@holdfast/core/store-kit";
import * as z from "zod";
import { CallRemarks } from "../call-remarks.js";
import { type Caller, isSameSession, requestedScope } from "../caller.js";
import { type SessionToolParts, sessionTool } from "../session-tool.js";
import { describeCall, HISTORY, LIST } from "../tool-calls.js";
import { type OpeningRequest, openingOf } from "./opening-of.js";

/** Default and largest number of sessions of a page. */
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
/** Longest accepted cursor; those of logs are shorter. */
const MAX_CURSOR_CHARS = 1_000;
/** Answer when nothing was logged yet. */
const NONE = "No sessions.";
/** Characters reserved for the text below the sessions. */
const AROUND_CHARS = 200;

const input = z.object({
  agentId: z.string().optional().describe("Another agent of the same user"),
  limit: z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT).describe("Number of sessions"),
  cursor: z
    .string()
    .max(MAX_CURSOR_CHARS)
    .optional()
    .describe("From the previous answer, to continue"),
});

/** Creates the tool `session_list`. */
export function sessionListTool(parts: SessionToolParts): Tool {
  const { log, settings } = parts;
  return sessionTool(parts, {
    name: LIST,
    description:
      "Lists the conversations with this user, most recently updated first: id, times, and how each began.",
    input,
    async run({ agentId, limit, cursor }, caller, clock) {
      const { userId, ...scope } = requestedScope(caller, { agentId });
      const remarks = new CallRemarks(parts, caller, clock, false);
      const row = ({ slot, lastAt }: LogSession) =>
        sessionRow({ log, slot, remarks, clock }, caller, lastAt);
      if (userId === null) {
        const [last] = await log.read(caller.slot, { limit: 1 });
        if (last === undefined) return NONE;
        return `${await row({ slot: caller.slot, lastAt: last.at })}\n[Without a user there is only this session.]`;
      }
      const query = { agentId: scope.agentId, userId };
      let page = await log.sessions({ ...query, limit, cursor });
      const rows: string[] = [];
      let room = settings.maxPageChars - AROUND_CHARS;
      for (const session of page.sessions) {
        const text = await row(session);
        room -= text.length + 1;
        if (rows.length > 0 && room < 0) {
          // Ask again for as many as fit, to get the cursor that continues after them.
          page = await log.sessions({ ...query, limit: rows.length, cursor });
          break;
        }
        rows.push(text);
      }
      const next = {
        cursor: page.cursor,
        agentId,
        limit: limit === DEFAULT_LIMIT ? undefined : limit,
      };
      const read = `${HISTORY} with a sessionId${agentId === undefined ? "" : " and the agentId"} shows one.`;
      if (page.cursor !== undefined) rows.push(`[More: ${describeCall(LIST, next)}. ${read}]`);
      else if (rows.length > 0) rows.push(`[These are all. ${read}]`);
      else rows.push(cursor === undefined ? NONE : "No more sessions.");
      return rows.join("\n");
    },
  });
}

async function sessionRow(
  opening: OpeningRequest,
  caller: Caller,
  lastAt: string,
): Promise<string> {
  const { slot, clock } = opening;
  const mark = isSameSession(slot, caller.slot) ? " (this session)" : "";
  // When time is up, sessions are listed without their beginning.
  const began = clock.isUp ? "" : await openingOf(opening);
  return `${JSON.stringify(slot.sessionId)}${mark}, last active ${lastAt}${began}`;
}
