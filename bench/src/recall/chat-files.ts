import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { assistantMessage, type Message, userMessage } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import type { Corpus, CorpusQuestion, CorpusSession, TurnPlace } from "./corpus.js";

/** A turn as the files of LoCoMo and REALTALK have it. */
interface FileTurn {
  readonly speaker?: string;
  readonly dia_id?: string;
  readonly text?: string;
  readonly clean_text?: string;
  readonly blip_caption?: string;
}

/**
 * Reads conversations and questions from a file of LoCoMo (`locomo10.json`), or of REALTALK (one chat a file). Each
 * conversation is a corpus of its own. These files are not part of this project.
 *
 * @throws Error when the file has another form
 */
export function readChatFile(file: string): Corpus[] {
  const parsed: unknown = JSON.parse(readFileSync(file, "utf8"));
  const samples = Array.isArray(parsed) ? parsed : [parsed];
  return samples.map((sample: unknown, index) => {
    if (!isRecord(sample) || !Array.isArray(sample["qa"]))
      throw new Error(`${file} is not a file of LoCoMo or REALTALK: no list "qa"`);
    const chat = isRecord(sample["conversation"]) ? sample["conversation"] : sample;
    const places = new Map<string, TurnPlace>();
    const sessions = Object.keys(chat)
      .filter((key) => /^session_\d+$/.test(key) && Array.isArray(chat[key]))
      .map((key) => sessionOf(key, chat, places));
    return {
      name: `${basename(file)} ${index + 1}`,
      sessions,
      questions: sample["qa"].flatMap((each: unknown) => questionOf(each, places)),
    };
  });
}

function sessionOf(
  key: string,
  chat: Readonly<Record<string, unknown>>,
  places: Map<string, TurnPlace>,
): CorpusSession {
  const turns: Message[] = [];
  const speakers: string[] = [];
  for (const each of chat[key] as readonly FileTurn[]) {
    const said = each.text ?? each.clean_text ?? "";
    const image = each.blip_caption === undefined ? "" : ` [image: ${each.blip_caption}]`;
    const speaker = each.speaker ?? "";
    if (!speakers.includes(speaker)) speakers.push(speaker);
    if (each.dia_id !== undefined) places.set(each.dia_id, { sessionId: key, turn: turns.length });
    const text = `${speaker}: ${said}${image}`;
    turns.push(speakers.indexOf(speaker) === 0 ? userMessage(text) : assistantMessage(text));
  }
  return { id: key, startedAt: dateOf(String(chat[`${key}_date_time`] ?? "")), turns };
}

/** Reads `1:56 pm on 8 May, 2023` or `08.05.2023, 13:56:00`. */
function dateOf(text: string): Date {
  const [, time = "", day = ""] = /^(.*) on (.*)$/.exec(text) ?? [];
  const [, date = "", month = "", year = ""] = /(\d+)\.(\d+)\.(\d{4})/.exec(text) ?? [];
  const parsed = new Date(year === "" ? `${day} ${time} UTC` : `${year}-${month}-${date}`);
  return Number.isNaN(parsed.getTime()) ? new Date(0) : parsed;
}

function questionOf(qa: unknown, places: ReadonlyMap<string, TurnPlace>): CorpusQuestion[] {
  if (!isRecord(qa) || typeof qa["question"] !== "string") return [];
  const evidence = (Array.isArray(qa["evidence"]) ? qa["evidence"] : []).flatMap((each: unknown) =>
    String(each).split(/[;,\s]+/),
  );
  const answers = evidence.flatMap((id) => places.get(id) ?? []);
  return answers.length === 0 ? [] : [{ text: qa["question"], answers }];
}
