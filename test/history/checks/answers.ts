import type { DoneOperation } from "../operation.js";
import { answeredQuestion, readQuestion } from "../question.mjs";
import { type Check, type History, survivalOf, turnsOf, type Violation } from "./check.js";

/**
 * Every answer belongs to its question: the reply of a call names the call's own question, also when the call was repeated;
 * a repeated call that had been answered gets the same answer; and one with another question is refused. What was streamed is
 * what was answered.
 */
export const answersBelongToQuestions: Check = (history) =>
  history.sessions.flatMap(({ session }) => {
    const turns = turnsOf(history, session);
    return [
      ...turns.flatMap((turn) => strangeAnswer(history, turn)),
      ...turns.flatMap(otherStream),
      ...changedAnswers(history, session, turns),
      ...acceptedReuse(history, session, turns),
    ];
  });

const check = "every answer belongs to its question";

function strangeAnswer(history: History, turn: DoneOperation): Violation[] {
  const { operation, told } = turn;
  const text = told.reply?.text ?? "";
  if (text === "") return [];
  const answered = answeredQuestion(text);
  const asked = questionsOf(history, turn);
  if (asked === null || (answered !== null && asked.has(answered))) return [];
  const message = `asked ${[...asked].join(" or ")}, was told ${JSON.stringify(text)}`;
  return [{ check, session: operation.session, message, evidence: [turn] }];
}

function otherStream(turn: DoneOperation): Violation[] {
  const { operation, told } = turn;
  if (told.reply?.reason !== "stop" || told.streamed === undefined) return [];
  if (told.streamed === told.reply.text) return [];
  const message = `${JSON.stringify(told.streamed)} was streamed, ${JSON.stringify(told.reply.text)} answered`;
  return [{ check, session: operation.session, message, evidence: [turn] }];
}

/** Questions that a turn may answer; null when any question of the session will do. */
function questionsOf(history: History, { operation }: DoneOperation): Set<string> | null {
  if (operation.kind === "call") return new Set([operation.question]);
  if (operation.kind === "resume" && operation.callId !== undefined)
    return new Set(
      history.done.flatMap(({ operation: other }) =>
        other.kind === "call" &&
        other.session === operation.session &&
        other.callId === operation.callId
          ? [other.question]
          : [],
      ),
    );
  return null;
}

/** A call that was answered once and got another answer when it was repeated. */
function changedAnswers(
  history: History,
  session: string,
  turns: readonly DoneOperation[],
): Violation[] {
  const first = new Map<string, DoneOperation>();
  return turns.flatMap((turn): Violation[] => {
    const { operation, told } = turn;
    if (operation.kind !== "call" || told.reply?.reason !== "stop") return [];
    if (operation.callId === undefined) return [];
    const key = `${operation.callId} ${operation.question}`;
    const before = first.get(key);
    if (before === undefined || survivalOf(history, session, before) !== "kept") {
      first.set(key, turn);
      return [];
    }
    if (before.told.reply?.text === told.reply.text) return [];
    const message = `${operation.callId} was answered ${JSON.stringify(before.told.reply?.text)} and, repeated, ${JSON.stringify(told.reply.text)}`;
    return [{ check, session, message, evidence: [before, turn] }];
  });
}

/** Another question under the id of a call that had been answered must be refused. */
function acceptedReuse(
  history: History,
  session: string,
  turns: readonly DoneOperation[],
): Violation[] {
  const answered = new Map<string, DoneOperation>();
  const byStart = turns.toSorted((one, other) => one.start - other.start);
  return byStart.flatMap((turn): Violation[] => {
    const { operation, told } = turn;
    if (operation.kind !== "call" || operation.callId === undefined) return [];
    const before = answered.get(operation.callId);
    if (told.reply?.reason === "stop" && before === undefined) answered.set(operation.callId, turn);
    if (before === undefined || before.operation.kind !== "call") return [];
    if (before.operation.question === operation.question || before.end > turn.start) return [];
    if (survivalOf(history, session, before) !== "kept") return [];
    if (told.reply === undefined || told.reply === null) return [];
    const message = `${operation.callId} had answered ${readQuestion(before.operation.input)?.id} and took ${operation.question} as well`;
    return [{ check, session, message, evidence: [before, turn] }];
  });
}
