import type { Tool } from "@holdfast/core";
import type { LogSession } from "@holdfast/core/store-kit";
import { z } from "zod";
import { CallStates } from "../call-states.js";
import { type Caller, isSame, wishedScope } from "../caller.js";
import { howTo } from "../how-to.js";
import { type SessionToolParts, sessionTool } from "../session-tool.js";
import { HISTORY, LIST } from "../tool-names.js";
import { type OpeningRequest, openingOf } from "./opening-of.js";

/** Sessions of one page by default and at most. */
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
/** Longest cursor taken; those of logs are shorter. */
const MAX_CURSOR_CHARS = 1_000;
/** Said when nothing was logged yet. */
const NONE = "No sessions.";
/** Room for what is said below the sessions. */
const AROUND_CHARS = 200;

const input = z.object({
  agentId: z.string().optional().describe("Another agent of the same user"),
  limit: z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT).describe("How many sessions"),
  cursor: z.string().max(MAX_CURSOR_CHARS).optional().describe("From the answer before, to go on"),
});

/** The tool `session_list`. */
export function sessionListTool(parts: SessionToolParts): Tool {
  const { log, settings } = parts;
  return sessionTool(parts, {
    name: LIST,
    description:
      "Lists the conversations with this user, the one written to last first: id, times, and how each began.",
    input,
    async run({ agentId, limit, cursor }, caller, clock) {
      const { userId, ...scope } = wishedScope(caller, { agentId });
      const states = new CallStates(log, caller, clock, false);
      const row = ({ slot, lastAt }: LogSession) =>
        sessionRow({ log, slot, states, clock }, caller, lastAt);
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
          // Asked again for what fits, the log says how to go on behind it.
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
      if (page.cursor !== undefined) rows.push(`[More: ${howTo(LIST, next)}. ${read}]`);
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
  const mark = isSame(slot, caller.slot) ? " (this session)" : "";
  // When time is up the sessions are listed all the same.
  const began = clock.isUp ? "" : await openingOf(opening);
  return `${JSON.stringify(slot.sessionId)}${mark}, last active ${lastAt}${began}`;
}
