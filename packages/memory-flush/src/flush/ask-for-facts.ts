import { InvalidInputError, type Slot, StateTooLargeError, type Usage } from "@holdfast/core";
import { cutIndex, type ModelAnswer } from "@holdfast/core/plugin-kit";
import { askInTime } from "../ask-in-time.js";
import {
  dayPath,
  MAX_DAY_BYTES,
  type MemoryFiles,
  withoutNoteEnds,
} from "../files/memory-files.js";
import { MemoryFailure } from "../memory-failure.js";
import type { MemoryParts } from "../memory-parts.js";
import { headOf, tailOf } from "../quote/cut-text.js";
import { plainLine } from "../quote/plain-text.js";
import { tokenShares } from "../token-shares.js";
import { flushRequest } from "./flush-request.js";

/** Longer than any list that is kept. */
const MAX_ANSWER_CHARS = 40_000;

const MAX_FACTS = 50;
const MAX_FACT_CHARS = 500;
const ITEM = /^\s*(?:[-*•+–]|\d{1,3}[.)])\s+(\S.*)$/su;

/** A part of a conversation to pick facts from. */
export interface FactQuestion {
  readonly slot: Slot;
  /** Id of the flush, for its events. */
  readonly callId: string;
  /** Quoted messages. */
  readonly messages: readonly string[];
  readonly signal: AbortSignal;
}

/** New facts, without those that are known word for word, and the tokens they cost. */
export interface Facts {
  readonly facts: string[];
  readonly usage: Usage;
}

/**
 * Asks the model for the facts in a part of a conversation.
 *
 * @throws MemoryFailure when today's notes are full: the facts are noted on another day
 */
export async function askForFacts(parts: MemoryParts, question: FactQuestion): Promise<Facts> {
  const { settings, files, model } = parts;
  const { slot, callId, messages, signal } = question;
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
  const answer = await askInTime(parts, {
    ...{ from: { slot, callId }, request, purpose: "memory_flush", stops: [signal] },
    maxChars: MAX_ANSWER_CHARS,
  });
  const known = new Set(`${memory}\n${notes}`.split("\n").map((line) => line.trim()));
  const facts = readFacts(answer).filter((fact) => !known.has(`- ${fact}`));
  return { facts, usage: answer.usage };
}

/** Returns the memory; empty when the file is refused (a link, too large), which must not prevent facts from being noted. */
async function knownMemory(files: MemoryFiles, slot: Slot): Promise<string> {
  try {
    return await files.readMemory(slot);
  } catch (error) {
    if (InvalidInputError.is(error) || StateTooLargeError.is(error)) return "";
    throw error;
  }
}

/** Reads the facts from an answer: its list items, each once. Other text is ignored. */
export function readFacts(answer: Pick<ModelAnswer, "text" | "isCutOff" | "isTooLong">): string[] {
  const lines = answer.text.split(/\r\n|\r|\n/);
  // Half a fact may say the opposite of the whole one.
  if (answer.isCutOff || answer.isTooLong) lines.pop();
  const facts = new Set<string>();
  for (const line of lines) {
    const fact = plainLine(ITEM.exec(line)?.[1] ?? "");
    if (fact === "" || /^nothing\.?$/i.test(fact)) continue;
    facts.add(
      fact.length > MAX_FACT_CHARS ? `${fact.slice(0, cutIndex(fact, MAX_FACT_CHARS - 1))}…` : fact,
    );
    if (facts.size === MAX_FACTS) break;
  }
  return [...facts];
}
