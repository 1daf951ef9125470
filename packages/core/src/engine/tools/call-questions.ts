import { InvalidInputError } from "../../errors/errors.js";
import type { ToolCallBlock } from "../../message/message.js";
import { describeSlot } from "../../slot/slot.js";
import type { LiveState } from "../../state/live-state.js";
import type { OpenQuestion, OpenQuestions } from "../../state/sections.js";
import { MAX_QUESTION_CHARS, type ToolAnswer, type ToolQuestion } from "../../tool/question.js";
import { fittedContent } from "../../tool/question-answer.js";
import type { Suspended } from "../../tool/tool.js";
import type { QuestionAnswer } from "../call-input.js";
import type { CallScope } from "../call-scope.js";
import { openCallsOf, questionOf } from "./open-calls.js";

/**
 * Notes the question that a suspended call asks, or that it waits for something else: it has run, and does not run again
 * when its answer is all that is missing.
 *
 * @returns false when the state has no room for it: what its calls ask is bounded together
 */
export function askQuestion(
  { questions }: Pick<LiveState, "questions">,
  call: ToolCallBlock,
  { question, reason }: Pick<Suspended, "question" | "reason">,
): boolean {
  const answers = questionOf({ questions }, call)?.answers ?? [];
  const entry: OpenQuestion = {
    ...(question && { asked: question, ...(reason !== undefined && { reason }) }),
    answers,
  };
  if (!hasRoom({ ...questions, [call.id]: entry })) return false;
  questions[call.id] = entry;
  return true;
}

function hasRoom(questions: OpenQuestions): boolean {
  return JSON.stringify(questions).length <= MAX_QUESTION_CHARS;
}

/**
 * Records a person's answers and allows their calls to go on; all of them, or none.
 *
 * @throws InvalidInputError for a call that has no question, and for content that does not fit it
 */
export function answerQuestions(
  { session, slot }: Pick<CallScope, "session" | "slot">,
  answers: readonly QuestionAnswer[],
): void {
  const { state } = session;
  const open = openCallsOf(state).filter(({ state }) => state === "pending");
  const asked = new Map(
    open.flatMap(({ call }) => {
      const entry = questionOf(state, call);
      return entry?.asked ? [[call.id, { asked: entry.asked, before: entry.answers }]] : [];
    }),
  );
  const taken = answers.map((answer): readonly [string, OpenQuestion] => {
    const entry = asked.get(answer.toolCallId);
    const about = `tool call ${JSON.stringify(answer.toolCallId)} of ${describeSlot(slot)}`;
    if (!entry)
      throw new InvalidInputError(
        `${about} does not wait for an answer to a question; waiting: ${[...asked.keys()].join(", ") || "none"}`,
      );
    const given = answerTo(entry.asked, answer, about);
    return [answer.toolCallId, { answers: [...entry.before, given] }];
  });
  const after = { ...state.questions, ...Object.fromEntries(taken) };
  if (!hasRoom(after))
    throw new InvalidInputError(
      `answers: the questions and answers of ${describeSlot(slot)} have more than ${MAX_QUESTION_CHARS} characters together; answer with less`,
    );
  for (const [id, entry] of taken) {
    state.questions[id] = entry;
    state.openCalls[id] = "allowed";
  }
}

/** Returns an answer to a question, with the defaults of its schema. @throws InvalidInputError when it does not fit */
export function answerTo(
  question: ToolQuestion,
  { action, content }: QuestionAnswer,
  about: string,
): ToolAnswer {
  if (action !== "accept") return { question, action };
  const { schema } = question;
  if (!schema) {
    if (content !== undefined && Object.keys(content).length > 0)
      throw new InvalidInputError(`answers, about ${about}: content was not asked for`);
    return { question, action };
  }
  const fitted = fittedContent(schema, content ?? {});
  if ("problem" in fitted)
    throw new InvalidInputError(`answers, about ${about}: ${fitted.problem}`);
  return { question, action, content: fitted.content };
}
