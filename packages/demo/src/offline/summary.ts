import type { Message, ModelRequest } from "@holdfast/core";
import { cutIndex } from "@holdfast/core/plugin-kit";
import { type Conversation, conversationOf } from "./conversation.js";
import { evictedPathsIn, itemsIn, statementsIn } from "./extract.js";

/** Items of a section; the newest stay, and the log has the rest. */
const MAX_STATEMENTS = 40;
const MAX_DONE = 12;
const MAX_FILES = 30;
/** Characters of a request that are repeated. */
const REQUEST_CHARS = 160;

/** Effect of a tool on a file. */
const effects: Readonly<Record<string, string>> = {
  read_file: "read",
  write_file: "written",
  edit_file: "edited",
};

/** Returns whether a request asks for a summary: its last message is the instruction of the compaction. */
export function isSummaryRequest({ messages }: ModelRequest): boolean {
  const blocks = messages.at(-1)?.content ?? [];
  return blocks.some((block) => block.type === "hint" && block.source === "compaction");
}

/** Summarises the messages of a request in four sections, by quoting them. */
export function summaryOf(messages: readonly Message[]): string {
  const conversation = conversationOf(messages);
  const earlier = sectionsOf(conversation.earlier);
  const carried = (title: string): string[] => itemsIn(earlier.get(title) ?? "");
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

/** Returns the requests that changed something; reading a file need not be remembered. */
function doneIn({ requests }: Conversation): string[] {
  return requests
    .filter((request) => /^(?:rename|replace|document|copy|write|create|call)\b/i.test(request))
    .map((request) => `Asked for: ${quote(request)}`);
}

/** Lists each file once, with what was last done to it, and the paths of evicted results. */
function artifacts(carried: readonly string[], { calls, text }: Conversation): string[] {
  const files = new Map<string, string>();
  const note = (path: string, effect: string): void => {
    // That a file was changed matters more than that it was read again.
    if (effect === "read" && files.has(path)) return;
    files.delete(path);
    files.set(path, effect);
  };
  for (const item of carried) {
    const [, path, effect] = /^(\S+) \(([^)]+)\)$/.exec(item) ?? [];
    if (path !== undefined && effect !== undefined) note(path, effect);
  }
  for (const { name, path } of calls) {
    const effect = effects[name];
    if (path !== undefined && effect !== undefined) note(path, effect);
  }
  for (const path of evictedPathsIn(text)) note(path, "a result that was moved out");
  return newest(
    [...files].map(([path, effect]) => `${path} (${effect})`),
    MAX_FILES,
  );
}

/** Splits an earlier summary into its sections, by title. */
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
