import { gptTokenizerCounter, TokenMeter } from "@holdfast/compaction";
import { AgentState, assistantMessage, type Message, userMessage } from "@holdfast/core";
import { type Comparison, compare } from "../measure/compare.js";
import { sampleTurn } from "../stores/sample-turn.js";

const effort = { warmUp: 500, rounds: 25, batch: 25 };
const steps = effort.warmUp + effort.rounds * effort.batch;
/** Steps on one session before the next one is taken, so that the short ones stay short. */
const stepsPerSession = 10;

const prompt = { system: "Be brief and helpful.", tools: [] };

/** Measures counting the tokens of the next request with 5,000 messages in the session, against 50. */
export function measureCounting(): Promise<Comparison> {
  const meter = new TokenMeter(gptTokenizerCounter());
  return compare(countingSteps(meter, 50), countingSteps(meter, 5_000), effort);
}

/** Each run is a step: two new messages, and the count that decides whether to compact. */
function countingSteps(meter: TokenMeter, messages: number): () => Promise<void> {
  const newTurn = () => turnIn(messages);
  const history = Array.from({ length: messages / 2 }, newTurn).flat();
  const sessions = Array.from({ length: Math.ceil(steps / stepsPerSession) }, () => {
    const state = AgentState.create({ sessionId: "count" });
    state.contextMutable().push(...history);
    meter.contextTokens(state, prompt);
    return state;
  });
  const turns = Array.from({ length: steps }, newTurn);
  let step = 0;
  return async () => {
    const state = sessions[Math.floor(step / stepsPerSession)];
    const turn = turns[step++];
    if (!state || !turn) throw new Error("more steps were run than prepared");
    state.contextMutable().push(...turn);
    meter.contextTokens(state, prompt);
  };
}

/** A question, and an answer with the usage a provider would report in a session of that length. */
function turnIn(messages: number): [Message, Message] {
  const [question, answer] = sampleTurn();
  const usage = { inputTokens: messages * 90, outputTokens: 120 };
  return [userMessage(question.content), assistantMessage(answer.content, { usage })];
}
