import { failure, type Phrase, type Reply, say, useTool } from "./answer.js";
import { itemsIn, statementIn } from "./extract.js";
import type { ParsedRequest } from "./parsed-request.js";

/** Phrases about the long-term memory. */
export const memoryAnswers: readonly Phrase[] = [
  [/^(?:please )?(?:note|remember)\b(?: that|:)? (.+)$/is, (request) => note(request)],
  [
    /^what do you (?:know|remember) about (.+)$/is,
    (request, [, topic = ""]) => remember(request, topic.replace(/[\s?!.]+$/, "")),
  ],
  [
    /^(?:decision|rule|fact|from now on|keep in mind)\b/i,
    () =>
      say("Understood. That is part of our conversation now, and its log keeps it word for word."),
  ],
];

function note(request: ParsedRequest): Reply {
  const content = statementIn(request.question) ?? request.question;
  const [saved] = request.steps;
  if (saved === undefined) return useTool(request, "memory_save", { content });
  return saved.state === "success" ? say(`Noted: ${content}`) : failure(saved);
}

/** Looks in the memory, which is part of the prompt, and then in the notes. */
function remember(request: ParsedRequest, topic: string): Reply {
  const words = wordsOf(topic);
  const fits = (fact: string): boolean => wordsOf(fact).some((word) => words.includes(word));
  const [, memory = ""] =
    /<memory source="MEMORY\.md">\n([\s\S]*?)<\/memory>/.exec(request.system) ?? [];
  const known = itemsIn(memory).filter(fits);
  if (known.length > 0) return say(`From my memory: ${known.join(" ")}`);
  const [searched] = request.steps;
  if (searched === undefined) return useTool(request, "memory_search", { query: topic });
  if (searched.state !== "success") return failure(searched);
  return say(`My notes say:\n${searched.text}`);
}

/** Returns the words of four letters or more. */
function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [];
}
