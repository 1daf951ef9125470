import {
  cleanPath,
  counted,
  failure,
  type Phrase,
  pageLines,
  totalLines,
  useTool,
} from "./answer.js";
import { outlineOf } from "./outline.js";
import { type Reply, say } from "./reply.js";
import type { Situation } from "./situation.js";

/** Phrases about changing files. */
export const editAnswers: readonly Phrase[] = [
  [
    /^rename (\w+) to (\w+) in (\S+)\s*$/i,
    (situation, [, from = "", to = "", path = ""]) => rename(situation, from, to, cleanPath(path)),
  ],
  [
    /^replace "(.+?)" (?:with|by) "(.*?)" in (\S+)\s*$/is,
    (situation, [, from = "", to = "", path = ""]) => replace(situation, from, to, cleanPath(path)),
  ],
  [
    /^document (\S+) in (\S+)\s*$/i,
    (situation, [, source = "", target = ""]) =>
      writeFrom(situation, cleanPath(source), cleanPath(target), referenceOf),
  ],
  [
    /^copy (\S+) to (\S+)\s*$/i,
    (situation, [, source = "", target = ""]) =>
      writeFrom(situation, cleanPath(source), cleanPath(target), (_, lines) => lines.join("\n")),
  ],
  [
    /^(?:write|create) (\S+?):\s*\n(.+)$/is,
    (situation, [, path = "", content = ""]) => write(situation, cleanPath(path), `${content}\n`),
  ],
];

/** Looks first: a name inside of longer ones must not be touched. */
function rename(situation: Situation, from: string, to: string, path: string): Reply {
  const [found, edited] = situation.steps;
  if (found === undefined) return useTool(situation, "grep_files", { pattern: from, path });
  if (found.state !== "success") return failure(found);
  const rows = found.text.split("\n").slice(0, -1);
  if (rows.length === 0) return say(`${path} has no ${from}; I changed nothing.`);
  const longer = rows.find((row) => hasLongerName(row, from));
  if (longer !== undefined)
    return say(`${from} is also part of a longer name, so I changed nothing: ${longer}`);
  if (edited === undefined) return edit(situation, path, from, to, true);
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

function replace(situation: Situation, from: string, to: string, path: string): Reply {
  const [edited] = situation.steps;
  if (edited === undefined) return edit(situation, path, from, to, false);
  return edited.state === "success" ? say(edited.text) : failure(edited);
}

function edit(situation: Situation, path: string, from: string, to: string, all: boolean): Reply {
  const input = { path, old_string: from, new_string: to };
  return useTool(situation, "edit_file", all ? { ...input, replace_all: true } : input);
}

function write(situation: Situation, path: string, content: string): Reply {
  const [written] = situation.steps;
  if (written === undefined) return useTool(situation, "write_file", { path, content });
  return written.state === "success" ? say(written.text) : failure(written);
}

/** Reads a file whole and writes another one made of it. */
function writeFrom(
  situation: Situation,
  source: string,
  target: string,
  make: (source: string, lines: readonly string[]) => string,
): Reply {
  const [read, written] = situation.steps;
  if (read === undefined) return useTool(situation, "read_file", { path: source });
  if (read.state !== "success") return failure(read);
  const lines = pageLines(read.page);
  if (totalLines(read) > lines.length)
    return say(`${source} is longer than a page, and half of it would be wrong; I wrote nothing.`);
  if (written === undefined)
    return useTool(situation, "write_file", { path: target, content: make(source, lines) });
  if (written.state !== "success") return failure(written);
  return say(`${written.text} It is made of ${source}.`);
}

/** A page about a module: what it exports, what is said about it, and its code. */
function referenceOf(source: string, lines: readonly string[]): string {
  const entries = outlineOf(lines).map(
    ({ title, comment }) => `## \`${title}\`\n\n${comment || "Without a comment."}\n`,
  );
  const code = lines.join("\n").trimEnd();
  return `# ${source}\n\n${entries.join("\n")}\n## Source\n\n\`\`\`js\n${code}\n\`\`\`\n`;
}
