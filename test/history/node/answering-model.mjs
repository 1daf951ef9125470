// A model that does what the last question in its request says and names it in every answer.
import { textOf, toolCallsOf } from "@holdfast/core";
import { answerPieces, readQuestion } from "../question.mjs";

/**
 * @param {{ name: string, reach: (point: "model") => void }} node
 * @returns {import("@holdfast/core").Model}
 */
export function answeringModel({ name, reach }) {
  let replies = 0;
  return {
    id: "answering",
    async *stream({ messages, signal }) {
      const nonce = `${name}-${++replies}`;
      const asked = lastQuestion(messages);
      const script = asked?.script ?? { rounds: [], delayMs: 0, words: 0 };
      const round = asked === null ? 0 : roundsBehind(messages, asked.index);
      await pause(script.delayMs, signal);
      reach("model");
      const tools = script.rounds[round] ?? [];
      for (const [index, { tool, ms }] of tools.entries())
        yield {
          type: "tool_call",
          id: `call_${index}`,
          name: tool,
          input: { question: asked?.id ?? "", nonce: `${nonce}-${index}`, ms },
        };
      if (tools.length === 0)
        for (const text of answerPieces(asked?.id ?? "nothing", nonce, script.words)) {
          yield { type: "text_delta", text };
          if (script.words > 0) await pause(script.delayMs / 4, signal);
        }
      signal.throwIfAborted();
      yield {
        type: "finish",
        reason: tools.length > 0 ? "tool_calls" : "stop",
        usage: { inputTokens: 1, outputTokens: 1 },
      };
    },
  };
}

/** The last question of a request, and where it stands; null when there is none. */
export function lastQuestion(messages) {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index];
    const question = message.role === "user" ? readQuestion(textOf(message)) : null;
    if (question !== null) return { ...question, index };
  }
  return null;
}

/** Rounds of tool calls that were made since a question. */
function roundsBehind(messages, index) {
  return messages.slice(index).filter((message) => toolCallsOf(message).length > 0).length;
}

/** Waits, or rejects with the signal's reason as soon as it aborts. */
export function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve(undefined);
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}
