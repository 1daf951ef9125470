import { failure, type Phrase, useTool } from "./answer.js";
import { itemsOf } from "./items.js";
import { type Reply, say } from "./reply.js";
import type { Situation } from "./situation.js";
import { statementIn } from "./statements.js";

/** Phrases about what is to be remembered. */
export const memoryAnswers: readonly Phrase[] = [
  [/^(?:please )?(?:note|remember)\b(?: that|:)? (.+)$/is, (situation) => note(situation)],
  [
    /^what do you (?:know|remember) about (.+)$/is,
    (situation, [, topic = ""]) => remember(situation, topic.replace(/[\s?!.]+$/, "")),
  ],
  [
    /^(?:decision|rule|fact|from now on|keep in mind)\b/i,
    () =>
      say("Understood. That is part of our conversation now, and its log keeps it word for word."),
  ],
];

function note(situation: Situation): Reply {
  const content = statementIn(situation.question) ?? situation.question;
  const [saved] = situation.steps;
  if (saved === undefined) return useTool(situation, "memory_save", { content });
  return saved.state === "success" ? say(`Noted: ${content}`) : failure(saved);
}

/** The memory is part of the prompt; what is not there may still be in the notes. */
function remember(situation: Situation, topic: string): Reply {
  const words = wordsOf(topic);
  const fits = (fact: string): boolean => wordsOf(fact).some((word) => words.includes(word));
  const [, memory = ""] =
    /<memory source="MEMORY\.md">\n([\s\S]*?)<\/memory>/.exec(situation.system) ?? [];
  const known = itemsOf(memory).filter(fits);
  if (known.length > 0) return say(`From my memory: ${known.join(" ")}`);
  const [searched] = situation.steps;
  if (searched === undefined) return useTool(situation, "memory_search", { query: topic });
  if (searched.state !== "success") return failure(searched);
  return say(`My notes say:\n${searched.text}`);
}

/** Words that say something. */
function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? [];
}
