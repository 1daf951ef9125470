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
import { outlineOf } from "./outline.js";
import type { ParsedRequest } from "./parsed-request.js";

/** Phrases about changing files. */
export const editAnswers: readonly Phrase[] = [
  [
    /^rename (\w+) to (\w+) in (\S+)\s*$/i,
    (request, [, from = "", to = "", path = ""]) => rename(request, from, to, cleanPath(path)),
  ],
  [
    /^replace "(.+?)" (?:with|by) "(.*?)" in (\S+)\s*$/is,
    (request, [, from = "", to = "", path = ""]) => replace(request, from, to, cleanPath(path)),
  ],
  [
    /^document (\S+) in (\S+)\s*$/i,
    (request, [, source = "", target = ""]) =>
      writeFrom(request, cleanPath(source), cleanPath(target), referenceOf),
  ],
  [
    /^copy (\S+) to (\S+)\s*$/i,
    (request, [, source = "", target = ""]) =>
      writeFrom(request, cleanPath(source), cleanPath(target), (_, lines) => lines.join("\n")),
  ],
  [
    /^(?:write|create) (\S+?):\s*\n(.+)$/is,
    (request, [, path = "", content = ""]) => write(request, cleanPath(path), `${content}\n`),
  ],
];

/** Searches first: a name that is part of a longer one must not be changed. */
function rename(request: ParsedRequest, from: string, to: string, path: string): Reply {
  const [found, edited] = request.steps;
  if (found === undefined) return useTool(request, "grep_files", { pattern: from, path });
  if (found.state !== "success") return failure(found);
  const rows = found.text.split("\n").slice(0, -1);
  if (rows.length === 0) return say(`${path} has no ${from}; I changed nothing.`);
  const longer = rows.find((row) => hasLongerName(row, from));
  if (longer !== undefined)
    return say(`${from} is also part of a longer name, so I changed nothing: ${longer}`);
  if (edited === undefined) return edit(request, path, from, to, true);
  if (edited.state !== "success") return failure(edited);
  return say(
    `Done: ${from} is ${to} now. ${edited.text} It was in ${counted(rows.length, "line")}; other files may still say ${from}, which "find ${from}" shows.`,
  );
}

function hasLongerName(row: string, name: string): boolean {
  const text = row.replace(/^[^:]*:\d+: /, "");
  const whole = text.match(new RegExp(`(?<!\\w)${name}(?!\\w)`, "g"))?.length ?? 0;
  return whole < text.split(name).length - 1;
}

function replace(request: ParsedRequest, from: string, to: string, path: string): Reply {
  const [edited] = request.steps;
  if (edited === undefined) return edit(request, path, from, to, false);
  return edited.state === "success" ? say(edited.text) : failure(edited);
}

function edit(request: ParsedRequest, path: string, from: string, to: string, all: boolean): Reply {
  const input = { path, old_string: from, new_string: to };
  return useTool(request, "edit_file", all ? { ...input, replace_all: true } : input);
}

function write(request: ParsedRequest, path: string, content: string): Reply {
  const [written] = request.steps;
  if (written === undefined) return useTool(request, "write_file", { path, content });
  return written.state === "success" ? say(written.text) : failure(written);
}

/** Reads a whole file and writes another one made from it. */
function writeFrom(
  request: ParsedRequest,
  source: string,
  target: string,
  make: (source: string, lines: readonly string[]) => string,
): Reply {
  const [read, written] = request.steps;
  if (read === undefined) return useTool(request, "read_file", { path: source });
  if (read.state !== "success") return failure(read);
  const lines = pageLines(read.page);
  if (totalLines(read) > lines.length)
    return say(`${source} is longer than a page, and half of it would be wrong; I wrote nothing.`);
  if (written === undefined)
    return useTool(request, "write_file", { path: target, content: make(source, lines) });
  if (written.state !== "success") return failure(written);
  return say(`${written.text} It is made of ${source}.`);
}

/** Writes a page about a module: its exports, their comments, and its code. */
function referenceOf(source: string, lines: readonly string[]): string {
  const entries = outlineOf(lines).map(
    ({ title, comment }) => `## \`${title}\`\n\n${comment || "Without a comment."}\n`,
  );
  const code = lines.join("\n").trimEnd();
  return `# ${source}\n\n${entries.join("\n")}\n## Source\n\n\`\`\`js\n${code}\n\`\`\`\n`;
}
