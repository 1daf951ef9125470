import {
  cleanPath,
  counted,
  failure,
  type Phrase,
  pageLines,
  totalLines,
  useTool,
} from "./answer.js";
import { movedOutPath } from "./moved-out.js";
import { outlineOf } from "./outline.js";
import { type Reply, say } from "./reply.js";
import type { Situation } from "./situation.js";

/** Rows of a list that are repeated in a reply. */
const SHOWN_ROWS = 8;

/** Phrases about looking at files. */
export const fileAnswers: readonly Phrase[] = [
  [
    /^(?:what|which|list|show)(?: me)?(?: all)?(?: the)? files(?: are(?: there)?| do we have)?(?: in (\S+))?\s*$/i,
    (situation, [, directory]) =>
      listFiles(situation, directory === undefined ? "" : cleanPath(directory)),
  ],
  [/^which files match (\S+)/i, (situation, [, pattern = ""]) => matchFiles(situation, pattern)],
  [
    /^(?:how many lines (?:has|does)|how long is) (\S+)/i,
    (situation, [, path = ""]) => countLines(situation, cleanPath(path)),
  ],
  [
    /^(?:what does|what is in|outline) (\S+?)(?: export| hold| say| do)?\s*$/i,
    (situation, [, path = ""]) => outline(situation, cleanPath(path)),
  ],
  [
    /^(?:read|show|open)(?: me)?(?: the file)? (\S+)(?:,? (?:from )?lines? (\d+)(?:(?: to | ?- ?)(\d+))?)?\s*$/i,
    (situation, [, path = "", from, to]) =>
      readFile(situation, cleanPath(path), Number(from ?? 1), to === undefined ? 0 : Number(to)),
  ],
  [
    /^(?:find|search for|look for|where is|where do we use) (.+?)(?: in (the large result|\S+))?\s*$/i,
    (situation, [, wanted = "", where]) => find(situation, cleanPath(wanted), where),
  ],
];

function listFiles(situation: Situation, path: string): Reply {
  const [listed] = situation.steps;
  if (listed === undefined) return useTool(situation, "list_files", path === "" ? {} : { path });
  if (listed.state !== "success") return failure(listed);
  const rows = listed.text.split("\n");
  return say(`${path === "" ? "At the top" : `In ${path}`} there is:\n${bullets(rows, 40)}`);
}

function matchFiles(situation: Situation, pattern: string): Reply {
  const [found] = situation.steps;
  if (found === undefined) return useTool(situation, "glob_files", { pattern });
  return found.state === "success" ? say(bullets(found.text.split("\n"), 20)) : failure(found);
}

function countLines(situation: Situation, path: string): Reply {
  const [read] = situation.steps;
  if (read === undefined) return useTool(situation, "read_file", { path, limit: 1 });
  if (read.state !== "success") return failure(read);
  return say(`${path} has ${counted(totalLines(read), "line")}.`);
}

function outline(situation: Situation, path: string): Reply {
  const [read] = situation.steps;
  if (read === undefined) return useTool(situation, "read_file", { path });
  if (read.state !== "success") return failure(read);
  const parts = outlineOf(pageLines(read.page)).map(({ title, comment }) =>
    comment === "" ? title : `${title}: ${comment}`,
  );
  if (parts.length === 0) return say(`${path} exports nothing and has no headings.`);
  return say(`${path} has:\n${bullets(parts, 20)}`);
}

function readFile(situation: Situation, path: string, from: number, to: number): Reply {
  const [read] = situation.steps;
  const range = from > 1 || to > 0 ? { offset: from, limit: Math.max(1, to - from + 1) } : {};
  if (read === undefined) return useTool(situation, "read_file", { path, ...range });
  if (read.state !== "success") return failure(read);
  const lines = pageLines(read.page).filter((line) => line.trim() !== "");
  const first = lines.slice(0, 2).map((line) => `  ${line}`);
  return say(
    `I read ${path}, ${counted(totalLines(read), "line")} in all. ${from > 1 ? `From line ${from} it says` : "It begins"}:\n${first.join("\n")}`,
  );
}

function find(situation: Situation, pattern: string, where: string | undefined): Reply {
  const isMovedOut = where?.toLowerCase() === "the large result";
  const path = isMovedOut ? movedOutPath(situation.messages) : where && cleanPath(where);
  if (isMovedOut && path === undefined) return say("Nothing was moved out of this conversation.");
  const [found] = situation.steps;
  if (found === undefined)
    return useTool(situation, "grep_files", { pattern, ...(path !== undefined && { path }) });
  if (found.state !== "success") return failure(found);
  const rows = found.text.split("\n").slice(0, -1);
  if (rows.length === 0)
    return say(`I find no ${JSON.stringify(pattern)}${path ? ` in ${path}` : ""}.`);
  // The path of what was moved out says little and is long.
  const shown = isMovedOut ? rows.map((row) => row.replace(`${path}:`, "line ")) : rows;
  return say(
    `${JSON.stringify(pattern)} is in ${counted(rows.length, "line")}:\n${bullets(shown, SHOWN_ROWS)}`,
  );
}

function bullets(rows: readonly string[], most: number): string {
  const rest = rows.length - most;
  const shown = rows.slice(0, most).map((row) => `- ${row}`);
  return [...shown, ...(rest > 0 ? [`- and ${rest} more`] : [])].join("\n");
}
