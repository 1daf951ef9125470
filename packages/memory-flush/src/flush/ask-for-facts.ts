import {
  type EventBody,
  InvalidInputError,
  type Slot,
  StateTooLargeError,
  type Usage,
} from "@holdfast/core";
import { askModel } from "@holdfast/core/plugin-kit";
import { MemoryFailure } from "../failure-of.js";
import { dayPath, MAX_DAY_BYTES, type MemoryFiles } from "../files/memory-files.js";
import { withoutNoteEnds } from "../files/note-end.js";
import type { MemoryParts } from "../memory-parts.js";
import { headOf, tailOf } from "../quote/cut-text.js";
import { tokenShares } from "../token-shares.js";
import { withinTime } from "../within-time.js";
import { flushRequest } from "./flush-request.js";
import { readFacts } from "./read-facts.js";

/** More than the longest list that is kept. */
const MAX_ANSWER_CHARS = 40_000;

/** A part of a conversation to pick facts from. */
export interface FactQuestion {
  readonly slot: Slot;
  /** Each quoted. */
  readonly messages: readonly string[];
  readonly signal: AbortSignal;
  emit(event: EventBody): void;
}

/** The facts that were found, without those that are known word for word, and what it cost. */
export interface Facts {
  readonly facts: string[];
  readonly usage: Usage;
}

/**
 * Asks the model for the facts in a part of a conversation.
 *
 * @throws MemoryFailure when today's notes are full: what is not noted now is noted another day
 */
export async function askForFacts(parts: MemoryParts, question: FactQuestion): Promise<Facts> {
  const { settings, files, model } = parts;
  const { slot, messages, signal, emit } = question;
  const counter = parts.counter();
  const now = parts.now();
  const shares = tokenShares(model.contextWindow, settings.consolidation.maxTokens);
  const memory = await knownMemory(files, slot);
  const bytes = await files.readBytes(slot, dayPath(now));
  if (bytes !== null && bytes.length >= MAX_DAY_BYTES)
    throw new MemoryFailure("today's notes are full; the conversation will be noted another day");
  const notes = withoutNoteEnds(bytes === null ? "" : new TextDecoder().decode(bytes));
  const request = flushRequest({
    ...{ slot, messages, today: now.toISOString().slice(0, 10), rules: settings.flushPrompt },
    memory: headOf(memory, shares.memory, counter),
    notes: tailOf(notes, shares.notes, counter),
  });
  const answer = await withinTime(settings.timeoutMs, [signal], (stop) =>
    askModel({
      ...{ model, request, purpose: "memory_flush", maxChars: MAX_ANSWER_CHARS, emit },
      signal: stop,
    }),
  );
  const known = new Set(`${memory}\n${notes}`.split("\n").map((line) => line.trim()));
  const facts = readFacts(answer).filter((fact) => !known.has(`- ${fact}`));
  return { facts, usage: answer.usage };
}

/** A `MEMORY.md` that is refused, because it is a link or too large, is not known; it must not keep facts from being noted. */
async function knownMemory(files: MemoryFiles, slot: Slot): Promise<string> {
  try {
    return await files.readMemory(slot);
  } catch (error) {
    if (InvalidInputError.is(error) || StateTooLargeError.is(error)) return "";
    throw error;
  }
}
