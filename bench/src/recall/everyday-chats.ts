import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { assistantMessage, type Message, userMessage } from "@holdfast/core";
import type { Corpus, CorpusQuestion, CorpusSession } from "./corpus.js";

const file = fileURLToPath(new URL("../../data/everyday-chats.txt", import.meta.url));

/** Chats of two friends over a year, with questions in other words, all written by hand for this bench. */
export function everydayChats(): Corpus {
  const sessions: (CorpusSession & { readonly turns: Message[] })[] = [];
  const questions: CorpusQuestion[] = [];
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const session = sessions.at(-1);
    const [, time, id] = /^# (\S+ \S+) (\S+)$/.exec(line) ?? [];
    const [, text, answers] = /^\? (.*) \| ([\d, ]+)$/.exec(line) ?? [];
    if (time !== undefined && id !== undefined)
      sessions.push({ id, startedAt: new Date(`${time.replace(" ", "T")}Z`), turns: [] });
    else if (session === undefined || line === "") continue;
    else if (text !== undefined && answers !== undefined)
      questions.push({
        text,
        answers: answers
          .split(", ")
          .map((number) => ({ sessionId: session.id, turn: Number(number) - 1 })),
      });
    else session.turns.push(line.startsWith("Nora:") ? userMessage(line) : assistantMessage(line));
  }
  return { name: "everyday chats", sessions, questions };
}
