import type { Message, ModelRequest } from "@holdfast/core";
import { cutIndex } from "@holdfast/core/plugin-kit";
import { type Conversation, conversationOf } from "./conversation.js";
import { itemsOf } from "./items.js";
import { movedOutPaths } from "./moved-out.js";
import { statementsIn } from "./statements.js";

/** Items of a section; of more the newest stay, and the log has the others. */
const MAX_STATEMENTS = 40;
const MAX_DONE = 12;
const MAX_FILES = 30;
/** Characters of a request that are repeated. */
const REQUEST_CHARS = 160;

/** What a tool does to a file, in a word. */
const doings: Readonly<Record<string, string>> = {
  read_file: "read",
  write_file: "written",
  edit_file: "edited",
};

/** Whether a request asks for a summary: its last message is the instruction of the compaction. */
export function isSummaryRequest({ messages }: ModelRequest): boolean {
  const blocks = messages.at(-1)?.content ?? [];
  return blocks.some((block) => block.type === "hint" && block.source === "compaction");
}

/** A summary in four sections, of what the request holds and nothing else: an extract, in the conversation's words. */
export function summaryOf(messages: readonly Message[]): string {
  const conversation = conversationOf(messages);
  const earlier = sectionsOf(conversation.earlier);
  const carried = (title: string): string[] => itemsOf(earlier.get(title) ?? "");
  const statements = [...carried("SESSION INTENT"), ...conversation.requests.flatMap(statementsIn)];
  const done = [...carried("SUMMARY"), ...doneIn(conversation)];
  return [
    section("SESSION INTENT", newest(statements, MAX_STATEMENTS)),
    section("SUMMARY", newest(done, MAX_DONE)),
    section("ARTIFACTS", artifacts(carried("ARTIFACTS"), conversation)),
    section(
      "NEXT STEPS",
      conversation.requests.slice(-1).map((request) => `Asked last: ${quote(request)}`),
    ),
  ].join("\n\n");
}

/** What was asked for and changed something; looking at a file leaves nothing that has to be known. */
function doneIn({ requests }: Conversation): string[] {
  return requests
    .filter((request) => /^(?:rename|replace|document|copy|write|create|call)\b/i.test(request))
    .map((request) => `Asked for: ${quote(request)}`);
}

/** Each file once, with the last thing that happened to it, and where moved-out results are. */
function artifacts(carried: readonly string[], { calls, text }: Conversation): string[] {
  const files = new Map<string, string>();
  const note = (path: string, doing: string): void => {
    // Having been changed matters more than having been read again since.
    if (doing === "read" && files.has(path)) return;
    files.delete(path);
    files.set(path, doing);
  };
  for (const item of carried) {
    const [, path, doing] = /^(\S+) \(([^)]+)\)$/.exec(item) ?? [];
    if (path !== undefined && doing !== undefined) note(path, doing);
  }
  for (const { name, path } of calls) {
    const doing = doings[name];
    if (path !== undefined && doing !== undefined) note(path, doing);
  }
  for (const path of movedOutPaths(text)) note(path, "a result that was moved out");
  return newest(
    [...files].map(([path, doing]) => `${path} (${doing})`),
    MAX_FILES,
  );
}

/** The sections of an earlier summary, by title. */
function sectionsOf(summary: string): Map<string, string> {
  const parts = summary.split(/^## /m).slice(1);
  return new Map(
    parts.map((part) => {
      const end = part.indexOf("\n");
      return [part.slice(0, end).trim(), part.slice(end + 1)];
    }),
  );
}

function newest(items: readonly string[], most: number): string[] {
  return [...new Set(items)].slice(-most);
}

function section(title: string, items: readonly string[]): string {
  return `## ${title}\n${items.length === 0 ? "None" : items.map((item) => `- ${item}`).join("\n")}`;
}

function quote(request: string): string {
  const [line = ""] = request.split("\n");
  return line.length > REQUEST_CHARS ? `${line.slice(0, cutIndex(line, REQUEST_CHARS))} …` : line;
}
