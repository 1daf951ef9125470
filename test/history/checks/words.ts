import type { Operation } from "../operation.js";
import { readQuestion } from "../question.mjs";
import type { EventOf } from "../trace.js";
import { type Check, type History, survivalOf, type Violation } from "./check.js";

const check = "every accepted message is somewhere";

/**
 * Words of people are kept: the question of every call whose model was asked, the results from outside with which it was
 * asked, and the message of every interrupt that was accepted, are in the state or in the log.
 */
export const acceptedWordsAreKept: Check = (history) =>
  history.sessions.flatMap(({ session, messages, log }) => {
    const texts = new Set(
      [...messages, ...log].flatMap(({ text, results }) => [
        text,
        ...results.map((result) => result.text),
      ]),
    );
    return [...lostInputs(history, session, texts), ...lostMessages(history, session, texts)];
  });

function lostInputs(history: History, session: string, texts: ReadonlySet<string>): Violation[] {
  const operations = new Map(history.done.map((done) => [done.operation.op, done]));
  const told = new Set<string>();
  return history.trace.of("asked", session).flatMap((asked): Violation[] => {
    const done = operations.get(asked.op ?? "");
    const input = done && inputOf(done.operation, asked);
    if (done === undefined || input === null || input === undefined) return [];
    if (texts.has(input) || told.has(input)) return [];
    if (survivalOf(history, session, { start: asked.t, end: done.end }) !== "kept") return [];
    told.add(input);
    const message = `the model was asked with ${JSON.stringify(input)}, which is in neither state nor log`;
    return [{ check, session, message, evidence: [done, asked] }];
  });
}

/** Input of a call that is in a request; null when there is none of it. */
function inputOf(operation: Operation, asked: EventOf<"asked">): string | null {
  if (operation.kind === "call" && operation.question === asked.question) return operation.input;
  if (operation.kind === "settle" && asked.results.includes(operation.result))
    return operation.result;
  return null;
}

function lostMessages(history: History, session: string, texts: ReadonlySet<string>): Violation[] {
  return history.done.flatMap((done): Violation[] => {
    const { operation, told } = done;
    if (operation.kind !== "interrupt" || operation.session !== session) return [];
    if (operation.message === undefined || texts.has(operation.message)) return [];
    if (told.interrupted === undefined || told.interrupted === false) return [];
    if (survivalOf(history, session, done) !== "kept") return [];
    const message = `interrupt answered ${JSON.stringify(told.interrupted)} and its message ${JSON.stringify(operation.message)} is in neither state nor log`;
    return [{ check, session, message, evidence: [done] }];
  });
}

/** Each question is asked by one call, however often that is repeated and on however many nodes: the state has it once. */
export const questionsAreSaidOnce: Check = ({ sessions }) =>
  sessions.flatMap(({ session, messages }) => {
    const questions = messages.filter(
      ({ role, text }) => role === "user" && readQuestion(text) !== null,
    );
    const said = new Set<string>();
    return questions.flatMap((question): Violation[] => {
      const { text } = question;
      if (!said.has(text)) {
        said.add(text);
        return [];
      }
      const message = `the state has ${JSON.stringify(text)} twice`;
      return [{ check: "every question is said once", session, message, evidence: [question] }];
    });
  });

/** What came with the id of another call was refused, and is not said by anybody later. A deleted session knows no ids. */
export const refusedQuestionsAreNotSaid: Check = ({ sessions, done }) =>
  sessions.flatMap(({ session, messages }) => {
    const ofSession = done.filter(({ operation }) => operation.session === session);
    if (ofSession.some(({ operation }) => operation.kind === "delete")) return [];
    const said = new Set(messages.map(({ text }) => text));
    return ofSession.flatMap((refused): Violation[] => {
      const { operation, told } = refused;
      if (operation.kind !== "call" || told.error?.code !== "CALL_ID_REUSED") return [];
      if (!said.has(operation.input)) return [];
      const message = `${JSON.stringify(operation.input)} was refused and is in the state`;
      return [{ check: "no refused question is said", session, message, evidence: [refused] }];
    });
  });
