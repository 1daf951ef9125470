import {
  cleanPath,
  counted,
  failure,
  type Phrase,
  pageLines,
  type Reply,
  say,
  totalLines,
  useTool,
} from "./answer.js";
import { evictedPathsIn, textIn } from "./extract.js";
import { outlineOf } from "./outline.js";
import type { ParsedRequest } from "./parsed-request.js";

/** Matching lines that are repeated in a reply. */
const SHOWN_ROWS = 8;

/** Phrases about listing, reading and searching files. */
export const fileAnswers: readonly Phrase[] = [
  [
    /^(?:what|which|list|show)(?: me)?(?: all)?(?: the)? files(?: are(?: there)?| do we have)?(?: in (\S+))?\s*$/i,
    (request, [, directory]) =>
      listFiles(request, directory === undefined ? "" : cleanPath(directory)),
  ],
  [/^which files match (\S+)/i, (request, [, pattern = ""]) => matchFiles(request, pattern)],
  [
    /^(?:how many lines (?:has|does)|how long is) (\S+)/i,
    (request, [, path = ""]) => countLines(request, cleanPath(path)),
  ],
  [
    /^(?:what does|what is in|outline) (\S+?)(?: export| hold| say| do)?\s*$/i,
    (request, [, path = ""]) => outline(request, cleanPath(path)),
  ],
  [
    /^(?:read|show|open)(?: me)?(?: the file)? (\S+)(?:,? (?:from )?lines? (\d+)(?:(?: to | ?- ?)(\d+))?)?\s*$/i,
    (request, [, path = "", from, to]) =>
      readFile(request, cleanPath(path), Number(from ?? 1), to === undefined ? 0 : Number(to)),
  ],
  [
    /^(?:find|search for|look for|where is|where do we use) (.+?)(?: in (the large result|\S+))?\s*$/i,
    (request, [, wanted = "", where]) => find(request, cleanPath(wanted), where),
  ],
];

function listFiles(request: ParsedRequest, path: string): Reply {
  const [listed] = request.steps;
  if (listed === undefined) return useTool(request, "list_files", path === "" ? {} : { path });
  if (listed.state !== "success") return failure(listed);
  const rows = listed.text.split("\n");
  return say(`${path === "" ? "At the top" : `In ${path}`} there is:\n${bullets(rows, 40)}`);
}

function matchFiles(request: ParsedRequest, pattern: string): Reply {
  const [found] = request.steps;
  if (found === undefined) return useTool(request, "glob_files", { pattern });
  return found.state === "success" ? say(bullets(found.text.split("\n"), 20)) : failure(found);
}

function countLines(request: ParsedRequest, path: string): Reply {
  const [read] = request.steps;
  if (read === undefined) return useTool(request, "read_file", { path, limit: 1 });
  if (read.state !== "success") return failure(read);
  return say(`${path} has ${counted(totalLines(read), "line")}.`);
}

function outline(request: ParsedRequest, path: string): Reply {
  const [read] = request.steps;
  if (read === undefined) return useTool(request, "read_file", { path });
  if (read.state !== "success") return failure(read);
  const parts = outlineOf(pageLines(read.page)).map(({ title, comment }) =>
    comment === "" ? title : `${title}: ${comment}`,
  );
  if (parts.length === 0) return say(`${path} exports nothing and has no headings.`);
  return say(`${path} has:\n${bullets(parts, 20)}`);
}

function readFile(request: ParsedRequest, path: string, from: number, to: number): Reply {
  const [read] = request.steps;
  const range = from > 1 || to > 0 ? { offset: from, limit: Math.max(1, to - from + 1) } : {};
  if (read === undefined) return useTool(request, "read_file", { path, ...range });
  if (read.state !== "success") return failure(read);
  const lines = pageLines(read.page).filter((line) => line.trim() !== "");
  const first = lines.slice(0, 2).map((line) => `  ${line}`);
  return say(
    `I read ${path}, ${counted(totalLines(read), "line")} in all. ${from > 1 ? `From line ${from} it says` : "It begins"}:\n${first.join("\n")}`,
  );
}

function find(request: ParsedRequest, pattern: string, where: string | undefined): Reply {
  const isEvicted = where?.toLowerCase() === "the large result";
  const path = isEvicted
    ? evictedPathsIn(textIn(request.messages)).at(-1)
    : where && cleanPath(where);
  if (isEvicted && path === undefined) return say("Nothing was moved out of this conversation.");
  const [found] = request.steps;
  if (found === undefined)
    return useTool(request, "grep_files", { pattern, ...(path !== undefined && { path }) });
  if (found.state !== "success") return failure(found);
  const rows = found.text.split("\n").slice(0, -1);
  if (rows.length === 0)
    return say(`I find no ${JSON.stringify(pattern)}${path ? ` in ${path}` : ""}.`);
  // The path of an evicted result is long and says little.
  const shown = isEvicted ? rows.map((row) => row.replace(`${path}:`, "line ")) : rows;
  return say(
    `${JSON.stringify(pattern)} is in ${counted(rows.length, "line")}:\n${bullets(shown, SHOWN_ROWS)}`,
  );
}

function bullets(rows: readonly string[], most: number): string {
  const rest = rows.length - most;
  const shown = rows.slice(0, most).map((row) => `- ${row}`);
  return [...shown, ...(rest > 0 ? [`- and ${rest} more`] : [])].join("\n");
}
