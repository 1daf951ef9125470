import type { ModelRequest } from "@holdfast/core";
import { aboutAnswers, beyondScript, introduction } from "./about-answers.js";
import type { Phrase } from "./answer.js";
import { editAnswers } from "./edit-answers.js";
import { factsIn, isFactRequest } from "./facts.js";
import { fileAnswers } from "./file-answers.js";
import { memoryAnswers } from "./memory-answers.js";
import { isMemoryRequest, mergedMemory } from "./merged-memory.js";
import { type Reply, say } from "./reply.js";
import { sessionAnswers } from "./session-answers.js";
import { type Situation, situationOf } from "./situation.js";
import { isSummaryRequest, summaryOf } from "./summary.js";

/** The first that fits answers; the ones that fit more come later. */
const phrases: readonly Phrase[] = [
  ...memoryAnswers,
  ...sessionAnswers,
  ...editAnswers,
  ...fileAnswers,
  ...aboutAnswers,
];

/** What the script answers to a request. */
export function replyTo(request: ModelRequest): Reply {
  if (isSummaryRequest(request)) return say(summaryOf(request.messages));
  if (isFactRequest(request)) return say(factsIn(request));
  if (isMemoryRequest(request)) return say(mergedMemory(request));
  const situation = situationOf(request);
  const reply = answer(situation);
  return situation.isFirst && reply.text !== undefined
    ? { ...reply, text: `${introduction}\n${reply.text}` }
    : reply;
}

function answer(situation: Situation): Reply {
  // A mark at the end of the sentence changes nothing about what is meant.
  const question = situation.question.replace(/\s*[?!.]+$/, "");
  for (const [pattern, answerTo] of phrases) {
    const match = pattern.exec(question);
    if (match !== null) return answerTo(situation, match);
  }
  return beyondScript();
}
