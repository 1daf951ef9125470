import { acknowledgedTurnsAreThere } from "./acknowledged.js";
import { answersBelongToQuestions } from "./answers.js";
import type { Check } from "./check.js";
import { oneHolderAtATime } from "./holders.js";
import { interruptsHitTheirCall } from "./interrupts.js";
import { logAgreesWithState } from "./log.js";
import { requestsAreValid } from "./requests.js";
import { finishedToolsStayFinished, toolsRunUnderTheirLease } from "./tools.js";
import { operationsEnd } from "./usable.js";
import { acceptedWordsAreKept, questionsAreSaidOnce, refusedQuestionsAreNotSaid } from "./words.js";

/** Everything that is checked about a history. */
export const checks: readonly Check[] = [
  acknowledgedTurnsAreThere,
  answersBelongToQuestions,
  acceptedWordsAreKept,
  questionsAreSaidOnce,
  refusedQuestionsAreNotSaid,
  toolsRunUnderTheirLease,
  finishedToolsStayFinished,
  oneHolderAtATime,
  logAgreesWithState,
  requestsAreValid,
  interruptsHitTheirCall,
  operationsEnd,
];
