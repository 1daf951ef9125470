import type { SessionInfo, Tool } from "@holdfast/core";
import * as s from "@holdfast/core/plugin-kit/schema";
import type { LogSession } from "@holdfast/core/store-kit";
import { CallRemarks } from "../call-remarks.js";
import { type Caller, isSameSession, requestedScope } from "../caller.js";
import { type SessionToolParts, sessionTool } from "../session-tool.js";
import { describeCall, HISTORY, LIST } from "../tool-calls.js";
import { type OpeningRequest, openingOf } from "./opening-of.js";
import { listedFacts, sessionFilter } from "./session-filter.js";

/** Default and largest number of sessions of a page. */
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
/** Longest accepted cursor; those of logs are shorter. */
const MAX_CURSOR_CHARS = 1_000;
/** Answer when nothing was logged yet. */
const NONE = "No sessions.";
/** Characters reserved for the text below the sessions. */
const AROUND_CHARS = 200;

const input = s.object({
  agentId: s.string().optional().describe("Another agent of the same user"),
  limit: s.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT).describe("Number of sessions"),
  text: s
    .string()
    .optional()
    .describe("Only sessions with all these words in id, title or first words"),
  since: s.string().optional().describe("Only sessions active since this time, ISO 8601"),
  until: s.string().optional().describe("Only sessions last active before this time, ISO 8601"),
  metadata: s
    .record(s.string(), s.json())
    .optional()
    .describe("Only sessions with all these values in their metadata"),
  cursor: s
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
      "Lists the conversations with this user, most recently updated first: id, title, times, and how each began.",
    input,
    async run({ agentId, limit, cursor, ...filter }, caller, clock) {
      const { userId, ...scope } = requestedScope(caller, { agentId });
      const remarks = new CallRemarks(parts, caller, clock, false);
      const isSelected = sessionFilter(filter);
      let facts: ReadonlyMap<string, SessionInfo> = new Map();
      const row = ({ slot, lastAt }: LogSession) => {
        const info = facts.get(slot.sessionId);
        return sessionRow({ log, slot, remarks, clock }, caller, { lastAt, info });
      };
      if (userId === null) {
        const [last] = await log.read(caller.slot, { limit: 1 });
        if (last === undefined) return NONE;
        return `${await row({ slot: caller.slot, lastAt: last.at })}\n[Without a user there is only this session.]`;
      }
      const query = { agentId: scope.agentId, userId };
      let page = await log.sessions({ ...query, limit, cursor });
      facts = await listedFacts(parts.stateStore, query, page.sessions);
      const rows: string[] = [];
      let room = settings.maxPageChars - AROUND_CHARS;
      for (const [index, session] of page.sessions.entries()) {
        const text = await row(session);
        if (!isSelected({ ...session, info: facts.get(session.slot.sessionId), text })) continue;
        room -= text.length + 1;
        if (rows.length > 0 && room < 0) {
          // Ask again for as many as fit, to get the cursor that continues after them.
          page = await log.sessions({ ...query, limit: index, cursor });
          break;
        }
        rows.push(text);
      }
      const next = {
        cursor: page.cursor,
        agentId,
        ...{ text: filter.text, since: filter.since, until: filter.until },
        limit: limit === DEFAULT_LIMIT ? undefined : limit,
      };
      const read = `${HISTORY} with a sessionId${agentId === undefined ? "" : " and the agentId"} shows one.`;
      if (page.cursor !== undefined) rows.push(`[More: ${describeCall(LIST, next)}. ${read}]`);
      else if (rows.length > 0) rows.push(`[These are all. ${read}]`);
      else if (page.sessions.length > 0) rows.push("No sessions like that.");
      else rows.push(cursor === undefined ? NONE : "No more sessions.");
      return rows.join("\n");
    },
  });
}

async function sessionRow(
  opening: OpeningRequest,
  caller: Caller,
  { lastAt, info }: { readonly lastAt: string; readonly info?: SessionInfo | undefined },
): Promise<string> {
  const { slot, clock } = opening;
  const mark = isSameSession(slot, caller.slot) ? " (this session)" : "";
  // When time is up, sessions are listed without their beginning.
  const began = clock.isUp ? "" : await openingOf(opening);
  const title = info?.title?.replace(/…$/, "");
  // A title that is only the first words says nothing new.
  const titled =
    title === undefined || began.includes(`: ${title}`) ? "" : `, titled ${JSON.stringify(title)}`;
  return `${JSON.stringify(slot.sessionId)}${mark}${titled}, last active ${lastAt}${began}`;
}
