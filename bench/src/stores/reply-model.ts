import type { Model } from "@holdfast/core";
import { answerText } from "./sample-turn.js";

/** Model that answers at once with the same text. It does not look at the request: its time would grow with the history. */
export const replyModel: Model = {
  id: "reply",
  async *stream() {
    yield { type: "text_delta", text: answerText };
    yield { type: "finish", reason: "stop", usage: { inputTokens: 1_000, outputTokens: 100 } };
  },
};
