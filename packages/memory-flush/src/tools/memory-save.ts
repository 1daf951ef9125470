import type { Tool } from "@holdfast/core";
import { type FileNamespace, failedResult, KeyedQueue, reasonOf } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { slotKey } from "@holdfast/core/store-kit";
import { dayPath, MAX_DAY_BYTES, MEMORY_FILE, memorySlot } from "../files/memory-files.js";
import { plainText } from "../quote/plain-text.js";
import { factKey } from "../search/fact-key.js";
import { notesIn } from "../search/note-reader.js";
import { excerpt } from "./excerpt.js";
import { type MemoryToolParts, memoryTool } from "./memory-tool.js";

const MAX_CHARS = 2_000;
const MAX_SHOWN_CHARS = 200;

const HEADING = /^ {0,3}#{1,6}[ \t]+(.*)$/gm;

/** Heading of saved facts until they are merged: under the last heading of the file they could mean something else. */
const SAVED_HEADING = "Recently saved";
/** Everything that some program takes for the end of a line. */
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
/** Characters that separate words but must not be in a file: controls, lone surrogates, annotation marks. */
const UNFIT = /[\p{Cc}\p{Surrogate}\uFFF9-\uFFFB]/gu;
/** List marks, also repeated ones. */
const LIST_MARKS = /^(?:[-*+•] |[-*+•]$)+/;
const NUMBERED = /^\d{1,9}[.)] /;
/** Beginning of a list item that would make it a heading, a code fence or a rule. */
const BLOCK_MARK = /^(?:#|`{3}|~{3}|([-_*=])(?: ?\1){2,}$)/;

const input = s.object({
  content: s.string().describe(`What to remember, at most ${MAX_CHARS} characters`),
});

/** Creates the tool `memory_save`. */
export function memorySaveTool(parts: MemoryToolParts): Tool {
  // Calls of one step run in parallel; each must see what the one before wrote.
  const saves = new KeyedQueue();
  return memoryTool(parts.agentId, {
    name: "memory_save",
    description: `Saves facts to the long-term memory, for later conversations: a decision, a preference, something learnt. Write one fact per line as a list, each understandable on its own; at most ${MAX_CHARS} characters.`,
    input,
    run: ({ content }, { namespace }) =>
      saves.run(slotKey(memorySlot(namespace)), () => save(parts, namespace, content)),
  });
}

async function save(
  parts: MemoryToolParts,
  namespace: FileNamespace,
  content: string,
): Promise<unknown> {
  const plain = plainLines(content);
  const chars = plain.join("\n").length;
  if (chars > MAX_CHARS)
    return failedResult(
      `The content has ${chars} characters; at most ${MAX_CHARS} can be saved at once. Nothing was saved: shorten it, or save it in parts.`,
    );
  const items = noteItems(plain);
  if (items.length === 0) return failedResult("The content has no text; nothing was saved.");
  const memory = await readMemory(parts, namespace);
  const fresh = freshItems(items, memory.text);
  if (fresh.length === 0) return `${MEMORY_FILE} already says so; nothing was written.`;
  const today = await parts.files.readBytes(namespace, dayPath(parts.now()));
  if (today !== null && today.length >= MAX_DAY_BYTES)
    return failedResult("Today's notes are full; nothing was saved. More can be saved tomorrow.");
  const lines = fresh.map((item) => `- ${item}\n`).join("");
  const title = `saved in session ${JSON.stringify(namespace.sessionId)}`;
  const path = await parts.files.appendNotes(namespace, parts.now(), title, lines);
  const outcome = memory.problem ?? (await addToMemory(parts, namespace, memory.text, lines));
  parts.saved(namespace);
  const known =
    fresh.length < items.length ? ` The rest (${items.length - fresh.length}) was known.` : "";
  const shown = excerpt(lines.trimEnd(), 0, MAX_SHOWN_CHARS);
  return `Saved to ${path}${outcome}${known}\n${shown}`;
}

/** Reads `MEMORY.md`. A failure does not prevent a fact from being saved: the notes make it durable. */
async function readMemory(
  { files }: MemoryToolParts,
  namespace: FileNamespace,
): Promise<{ readonly text: string; readonly problem?: string }> {
  try {
    return { text: await files.readMemory(namespace) };
  } catch (error) {
    return { text: "", problem: notAdded(error) };
  }
}

async function addToMemory(
  parts: MemoryToolParts,
  namespace: FileNamespace,
  memory: string,
  lines: string,
): Promise<string> {
  try {
    const addition = memoryAddition(memory, lines);
    if (parts.counter().countText(memory + addition) > parts.maxTokens)
      return `. ${MEMORY_FILE} is full, so it will be merged into it later; until then memory_search finds it.`;
    await parts.files.appendMemory(namespace, addition);
  } catch (error) {
    return notAdded(error);
  }
  return ` and ${MEMORY_FILE}: it is known from the next step on.`;
}

function notAdded(error: unknown): string {
  return `, so it is kept and memory_search finds it. It could not be added to ${MEMORY_FILE} (${reasonOf(error)}); it will be merged into it later.`;
}

/** Returns the items that `memory` does not have in the same words, each once. */
function freshItems(items: readonly string[], memory: string): string[] {
  const known = new Set(notesIn(memory).map((note) => factKey(note.text)));
  return items.filter((item) => {
    const key = factKey(item);
    const isKnown = known.has(key);
    known.add(key);
    return !isKnown;
  });
}

/** Returns the text to append to `MEMORY.md` to add list items to it. */
function memoryAddition(memory: string, items: string): string {
  const heading = [...memory.matchAll(HEADING)].at(-1)?.[1]?.trim();
  const lineEnd = memory === "" || memory.endsWith("\n") ? "" : "\n";
  if (heading === undefined || heading === SAVED_HEADING) return `${lineEnd}${items}`;
  return `${lineEnd}\n## ${SAVED_HEADING}\n\n${items}`;
}

/** Returns the visible lines of a text, trimmed, without characters that notes must not have. */
function plainLines(text: string): string[] {
  return text
    .split(LINE_END)
    .map((line) => plainText(line.replace(UNFIT, " ")).replace(/\s+/g, " ").trim())
    .filter((line) => line !== "");
}

/**
 * Turns lines into list items of one line each: a list becomes its items, other lines are joined to the one before. No item
 * can be taken for a heading or another entry of the file.
 */
function noteItems(lines: readonly string[]): string[] {
  const items: string[] = [];
  for (const line of lines) {
    const content = line.replace(LIST_MARKS, "");
    if (content === "") continue;
    const isItem = content !== line || NUMBERED.test(content);
    if (items.length === 0 || isItem) items.push(content);
    else items.push(`${items.pop()} ${content}`);
  }
  return items.map((item) => (BLOCK_MARK.test(item) ? `\\${item}` : item));
}
