import type { Usage } from "@holdfast/core";
import {
  addUsage,
  isContextOverflow,
  type ModelAnswer,
  noUsage,
  type QuestionOrigin,
} from "@holdfast/core/plugin-kit";
import { askInTime, type TimedQuestion } from "../ask-in-time.js";
import { MEMORY_FILE } from "../files/memory-files.js";
import type { MemoryParts } from "../memory-parts.js";
import { fitsTokens, linePieces } from "../quote/cut-text.js";
import { tokenShares } from "../token-shares.js";
import { consolidationRequest, shorterRequest } from "./consolidation-request.js";
import type { NotesPage } from "./new-notes.js";
import { fitMemory, readMemoryAnswer } from "./read-memory-answer.js";

/** A memory, and the notes to merge into it. */
export interface MemoryQuestion {
  readonly memory: string;
  readonly pages: readonly NotesPage[];
  readonly stops: readonly AbortSignal[];
  readonly from: QuestionOrigin;
}

/** A new memory within its limit, and the tokens it cost. */
export interface NewMemory {
  readonly text: string;
  readonly usage: Usage;
}

/** A {@link NewMemory}, or part of one. */
export interface MergedMemory extends NewMemory {
  /** True when the old memory was too long for one request and was rewritten in pieces. */
  readonly wasLong: boolean;
  /** True when not all pieces were rewritten: the rest follows unchanged, and the notes are not merged yet. */
  readonly isPart: boolean;
}

/** Most pieces of a long memory that are rewritten in one consolidation. */
const MAX_PIECES = 7;

/**
 * Asks the model to merge notes into a memory. A memory that is too long for a request, because a person wrote it, is first
 * rewritten piece by piece.
 *
 * @throws MemoryFailure for an answer that would lose memory
 */
export async function askForMemory(
  parts: MemoryParts,
  question: MemoryQuestion,
): Promise<MergedMemory> {
  const { settings, model } = parts;
  const counter = parts.counter();
  const { material, oldMemory } = tokenShares(
    model.contextWindow,
    settings.consolidation.maxTokens,
  );
  const { memory } = question;
  if (fitsTokens(memory, oldMemory, counter))
    return { ...(await mergeNotes(parts, question)), wasLong: false, isPart: false };
  const pieces = linePieces(memory, material, counter, MAX_PIECES);
  const rest = memory.slice(pieces.join("").length);
  const steps = pieces.map((text) => [{ path: MEMORY_FILE, text }]);
  let merged: NewMemory = { text: "", usage: noUsage };
  for (const pages of rest === "" ? [...steps, question.pages] : steps) {
    const next = await mergeNotes(parts, { ...question, memory: merged.text, pages });
    merged = { text: next.text, usage: addUsage(merged.usage, next.usage) };
  }
  const { text, usage } = merged;
  return { text: text + rest, usage, wasLong: true, isPart: rest !== "" };
}

/** Asks once more when the answer is too long, and cuts what is still too long. */
async function mergeNotes(parts: MemoryParts, question: MemoryQuestion): Promise<NewMemory> {
  const { memory, pages } = question;
  const { prompt } = parts.settings.consolidation;
  const { newMemory: maxTokens } = tokenShares(
    parts.model.contextWindow,
    parts.settings.consolidation.maxTokens,
  );
  const counter = parts.counter();
  let usage = noUsage;
  // Several times what fits: a longer text is no longer an answer.
  const maxChars = Math.max(20_000, parts.settings.consolidation.maxTokens * 20);
  const ask = async (request: TimedQuestion["request"]): Promise<ModelAnswer> => {
    const { stops, from } = question;
    const answer = await askInTime(parts, {
      ...{ from, request, purpose: "consolidation", maxChars, stops },
    });
    usage = addUsage(usage, answer.usage);
    return answer;
  };
  const request = consolidationRequest({ memory, pages, maxTokens, prompt });
  const text = readMemoryAnswer(await ask(request), memory, maxTokens, counter);
  const tokens = counter.countText(text);
  if (tokens <= maxTokens) return { text, usage };
  const again = await ask(shorterRequest(request, text, tokens, maxTokens)).catch(nullIfTooLong);
  const shorter = shorterOf(text, again, (answer) =>
    readMemoryAnswer(answer, memory, maxTokens, counter),
  );
  return { text: fitMemory(shorter, maxTokens, counter), usage };
}

/** Ignores a context overflow: a model that cannot be shown its answer again cannot shorten it, now or later. */
function nullIfTooLong(error: unknown): null {
  if (isContextOverflow(error)) return null;
  throw error;
}

/** Returns the second answer if it is valid and shorter, otherwise the first. */
function shorterOf(
  first: string,
  second: ModelAnswer | null,
  read: (answer: ModelAnswer) => string,
): string {
  try {
    const text = second === null ? first : read(second);
    return text.length < first.length ? text : first;
  } catch {
    return first;
  }
}
