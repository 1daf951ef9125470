import type { Tool } from "@holdfast/core";
import { z } from "zod";
import { CallStates } from "../call-states.js";
import { wishedScope } from "../caller.js";
import { howTo } from "../how-to.js";
import { type SessionToolParts, sessionTool } from "../session-tool.js";
import { SEARCH } from "../tool-names.js";
import { hitRow } from "./hit-row.js";
import { literalHits } from "./literal-hits.js";
import { regexHits } from "./regex-hits.js";
import type { Find, Hit, Search } from "./search.js";
import { positionText, readPosition, type SearchPosition } from "./search-position.js";

/** Hits of one page by default and at most. */
const DEFAULT_RESULTS = 10;
const MAX_RESULTS = 50;
/** Longest text to look for. */
const MAX_QUERY_CHARS = 500;
/** Room for what is said below the hits, without the arguments in it. */
const AROUND_CHARS = 200;

const input = z.object({
  query: z
    .string()
    .min(1)
    .max(MAX_QUERY_CHARS)
    .describe("Text to look for, upper or lower case alike"),
  agentId: z.string().optional().describe("Another agent of the same user"),
  sessionId: z.string().optional().describe("Only this session; all of the user's by default"),
  maxResults: z.int().min(1).max(MAX_RESULTS).default(DEFAULT_RESULTS),
  regex: z
    .boolean()
    .optional()
    .describe(
      "The query is a regular expression (RE2), looked for line by line; (?i) for any case",
    ),
  includeDiscarded: z
    .boolean()
    .optional()
    .describe("Also what calls said that conflicted or were rolled back; false by default"),
  cursor: z.string().optional().describe("From the answer before, to go on"),
});

/** The tool `session_search`. */
export function sessionSearchTool(parts: SessionToolParts): Tool {
  const { log, settings } = parts;
  return sessionTool(parts, {
    name: SEARCH,
    description:
      "Finds text in the conversations with this user, newest first, also what is no longer in your context. Says for each place how to read it with session_history.",
    input,
    async run(request, caller, clock) {
      const { query, maxResults, includeDiscarded } = request;
      const scope = wishedScope(caller, request);
      const states = new CallStates(log, caller, clock, includeDiscarded);
      const from = request.cursor === undefined ? undefined : readPosition(request.cursor, scope);
      const search: Search = { log, scope, query, from, states, clock, signal: caller.signal };
      const next = (cursor: string): string =>
        howTo(SEARCH, {
          query,
          cursor,
          regex: request.regex,
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
      const found = rows.length === 0 ? "Nothing found" : `${rows.length} found`;
      const how =
        stoppedAt === undefined
          ? "everything was looked at"
          : `not everything was looked at. Go on: ${next(positionText(stoppedAt))}`;
      return [...rows, `[${found}; ${how}.]`].join("\n");
    },
  });
}

interface RowLimits {
  row(hit: Hit): string;
  isUp(): boolean;
  readonly maxRows: number;
  readonly maxChars: number;
}

/** Rows up to a limit, and how far they go when that is not to the end. */
async function collect(
  finds: AsyncIterable<Find>,
  { row, isUp, maxRows, maxChars }: RowLimits,
): Promise<{ readonly rows: readonly string[]; readonly stoppedAt?: SearchPosition | undefined }> {
  const rows: string[] = [];
  let room = maxChars;
  let reached: SearchPosition | undefined;
  for await (const { position, hit } of finds) {
    if (hit !== undefined) {
      const text = row(hit);
      room -= text.length + 1;
      // One always fits, so that a search gets on.
      if (rows.length > 0 && room < 0) return { rows, stoppedAt: reached };
      rows.push(text);
    }
    reached = position;
    if (rows.length === maxRows || isUp()) return { rows, stoppedAt: reached };
  }
  return { rows };
}
