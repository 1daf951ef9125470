import type { ModelRequest } from "@holdfast/core";
import { aboutAnswers, introduction, unknownPhrase } from "./about-answers.js";
import { type Phrase, type Reply, say } from "./answer.js";
import { editAnswers } from "./edit-answers.js";
import { fileAnswers } from "./file-answers.js";
import { memoryAnswers } from "./memory-answers.js";
import { factsIn, isFactRequest, isMemoryRequest, mergedMemory } from "./memory-writer.js";
import { type ParsedRequest, parseRequest } from "./parsed-request.js";
import { sessionAnswers } from "./session-answers.js";
import { isSummaryRequest, summaryOf } from "./summary.js";

/** In order: the first that matches answers, so the more general ones come last. */
const phrases: readonly Phrase[] = [
  ...memoryAnswers,
  ...sessionAnswers,
  ...editAnswers,
  ...fileAnswers,
  ...aboutAnswers,
];

/** Answers a request. */
export function replyTo(request: ModelRequest): Reply {
  if (isSummaryRequest(request)) return say(summaryOf(request.messages));
  if (isFactRequest(request)) return say(factsIn(request));
  if (isMemoryRequest(request)) return say(mergedMemory(request));
  const parsed = parseRequest(request);
  const reply = answer(parsed);
  return parsed.isFirst && reply.text !== undefined
    ? { ...reply, text: `${introduction}\n${reply.text}` }
    : reply;
}

function answer(parsed: ParsedRequest): Reply {
  // Punctuation at the end does not change what is meant.
  const question = parsed.question.replace(/\s*[?!.]+$/, "");
  for (const [pattern, answerTo] of phrases) {
    const match = pattern.exec(question);
    if (match !== null) return answerTo(parsed, match);
  }
  return unknownPhrase();
}
