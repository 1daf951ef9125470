import type { Tool } from "@holdfast/core";
import * as s from "@holdfast/core/plugin-kit/schema";
import { CallRemarks } from "../call-remarks.js";
import { type Caller, isSameSession, requestedScope } from "../caller.js";
import { historyCall } from "../history/reading.js";
import { messageHead } from "../history/record-head.js";
import { refuseMissingSession } from "../missing-session.js";
import { rankedSearch } from "../ranked/ranked-search.js";
import { type SessionToolParts, sessionTool } from "../session-tool.js";
import { describeCall, SEARCH } from "../tool-calls.js";
import { literalHits } from "./literal-hits.js";
import { regexHits } from "./regex-hits.js";
import {
  type Hit,
  positionText,
  readPosition,
  type Search,
  type SearchPosition,
  type SearchStep,
} from "./search.js";
import { oneLine } from "./snippet-at.js";

/** Default and largest number of hits of a page. */
const DEFAULT_RESULTS = 10;
const MAX_RESULTS = 50;
/** Longest query. */
const MAX_QUERY_CHARS = 500;
/** Characters reserved for the text below the hits, without the arguments in it. */
const AROUND_CHARS = 200;

const input = s.object({
  query: s
    .string()
    .min(1)
    .max(MAX_QUERY_CHARS)
    .describe(
      'A question or words, in any form; dates such as "in March" count. In double quotes: this very text',
    ),
  agentId: s.string().optional().describe("Another agent of the same user"),
  sessionId: s
    .string()
    .optional()
    .describe("Search only this session; all sessions of the user by default"),
  maxResults: s.int().min(1).max(MAX_RESULTS).default(DEFAULT_RESULTS),
  exact: s
    .boolean()
    .optional()
    .describe("Find this very text, newest first; case is ignored. Same as a query in quotes"),
  regex: s
    .boolean()
    .optional()
    .describe(
      "The query is an RE2 regular expression, matched line by line; begin it with (?i) to ignore case",
    ),
  includeDiscarded: s
    .boolean()
    .optional()
    .describe("Include messages of calls that conflicted or were rolled back; false by default"),
  includeContext: s
    .boolean()
    .optional()
    .describe("Include messages that are still in your context; false by default"),
  cursor: s.string().optional().describe("From the previous answer, to continue"),
});

/** Creates the tool `session_search`. */
export function sessionSearchTool(parts: SessionToolParts): Tool {
  const { log, settings, conversations } = parts;
  return sessionTool(parts, {
    name: SEARCH,
    description:
      "Finds what was said in the conversations with this user, including what is no longer in your context: the messages that fit a question best, each with the one before and after it. Finds exact text and regular expressions, too.",
    input,
    async run(request, caller, clock) {
      const { maxResults, includeDiscarded } = request;
      const isExact = request.exact === true || isQuoted(request.query);
      if (request.regex !== true && !isExact)
        return rankedSearch(parts, conversations, request, caller, clock);
      const query =
        request.regex !== true && isQuoted(request.query)
          ? request.query.slice(1, -1)
          : request.query;
      const scope = requestedScope(caller, request);
      const remarks = new CallRemarks(parts, caller, clock, includeDiscarded);
      const from = request.cursor === undefined ? undefined : readPosition(request.cursor, scope);
      const search: Search = { log, scope, query, from, remarks, clock, signal: caller.signal };
      const next = (cursor: string): string =>
        describeCall(SEARCH, {
          query,
          cursor,
          regex: request.regex,
          exact: request.regex === true ? undefined : true,
          sessionId: request.sessionId,
          agentId: request.agentId,
          maxResults: maxResults === DEFAULT_RESULTS ? undefined : maxResults,
          includeDiscarded,
        });
      const finds = request.regex === true ? regexHits(search) : literalHits(search);
      const { rows, stoppedAt } = await collect(finds, {
        row: (hit) => hitRow(hit, caller, includeDiscarded),
        isUp: () => clock.isUp,
        maxRows: maxResults,
        maxChars: settings.maxPageChars - AROUND_CHARS - next("").length,
      });
      const { sessionId } = scope;
      if (rows.length === 0 && stoppedAt === undefined && sessionId !== undefined)
        await refuseMissingSession(log, caller, { ...scope, sessionId });
      const found = rows.length === 0 ? "Nothing found" : `${rows.length} found`;
      const how =
        stoppedAt === undefined
          ? "everything was looked at"
          : `not everything was looked at. Go on: ${next(positionText(stoppedAt))}`;
      return [...rows, `[${found}; ${how}.]`].join("\n");
    },
  });
}

/** Tells whether a query is a text in double quotes. */
function isQuoted(query: string): boolean {
  return /^"[^"]+"$/s.test(query);
}

interface RowLimits {
  row(hit: Hit): string;
  isUp(): boolean;
  readonly maxRows: number;
  readonly maxChars: number;
}

/** Collects rows up to a limit, and returns the position reached when that is not the end. */
async function collect(
  finds: AsyncIterable<SearchStep>,
  { row, isUp, maxRows, maxChars }: RowLimits,
): Promise<{ readonly rows: readonly string[]; readonly stoppedAt?: SearchPosition | undefined }> {
  const rows: string[] = [];
  let room = maxChars;
  let reached: SearchPosition | undefined;
  for await (const { position, hit } of finds) {
    if (hit !== undefined) {
      const text = row(hit);
      room -= text.length + 1;
      // The first row is always shown, so that a search makes progress.
      if (rows.length > 0 && room < 0) return { rows, stoppedAt: reached };
      rows.push(text);
    }
    reached = position;
    if (rows.length === maxRows || isUp()) return { rows, stoppedAt: reached };
  }
  return { rows };
}

/** Describes a hit, with the calls that read it. */
function hitRow(hit: Hit, caller: Caller, includeDiscarded: boolean | undefined): string {
  const { slot, record, remark, snippet, offset } = hit;
  const here = isSameSession(slot, caller.slot) ? " (this session)" : "";
  const call = (args: { at?: number; offset?: number; before?: number }) =>
    historyCall({ caller, slot }, args, includeDiscarded);
  return [
    `${messageHead(record, remark)}, session ${JSON.stringify(slot.sessionId)}${here}`,
    `  ${oneLine(snippet)}`,
    `  read it: ${call({ at: record.seq, offset })}`,
    `  around it: ${call({ before: record.seq + 1 })}`,
  ].join("\n");
}
