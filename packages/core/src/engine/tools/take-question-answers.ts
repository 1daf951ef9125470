import type { PendingCall } from "../../events/agent-reply.js";
import type { QuestionAnswer } from "../call-input.js";
import type { CallScope } from "../call-scope.js";
import type { RunName } from "../save/log-batch.js";
import type { Answers } from "./acting.js";
import { answerQuestions, answerTo } from "./call-questions.js";

/**
 * Takes in answers to questions of the session's calls, which run again with them.
 *
 * @returns the answers for the agents that calls run
 */
export function takeQuestionAnswers(
  scope: CallScope,
  run: RunName,
  answers: readonly QuestionAnswer[],
  asks: ReadonlyMap<string, readonly PendingCall[]>,
): Answers["delegated"] {
  const { session } = scope;
  const asked = new Map(
    [...asks].flatMap(([id, pending]) =>
      pending.flatMap(({ toolCallId, question }) =>
        question ? [[toolCallId, { id, question }] as const] : [],
      ),
    ),
  );
  const delegated = new Map<string, { readonly answers: readonly QuestionAnswer[] }>();
  for (const answer of answers) {
    const other = asked.get(answer.toolCallId);
    if (!other) continue;
    answerTo(other.question, answer, `tool call ${JSON.stringify(answer.toolCallId)}`);
    const before = delegated.get(other.id)?.answers ?? [];
    delegated.set(other.id, { answers: [...before, answer] });
  }
  const own = answers.filter(({ toolCallId }) => !asked.has(toolCallId));
  if (own.length > 0) answerQuestions(scope, own);
  for (const id of delegated.keys()) session.state.openCalls[id] = "allowed";
  session.sayAnswer(run, () => undefined);
  const given = (action: QuestionAnswer["action"]) =>
    answers.filter((one) => one.action === action).map(({ toolCallId }) => toolCallId);
  session.mark({
    name: "answer",
    details: {
      accepted: given("accept"),
      declined: given("decline"),
      cancelled: given("cancel"),
    },
  });
  return delegated;
}
