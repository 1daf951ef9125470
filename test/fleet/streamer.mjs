// An agent that looks something up and then answers in many pieces. The same in every process of a test.
import { setTimeout as delay } from "node:timers/promises";
import { ReActAgent, tool } from "@holdfast/core";
import { z } from "zod";

/** Words of a reply. */
const WORDS = 30;

/**
 * @param {import("@holdfast/core").DistributedStore} store
 * @param {Partial<import("@holdfast/core").ReActAgentOptions> & { pieceMs?: number }} options
 */
export function streamer(store, { pieceMs = 1, ...options } = {}) {
  return new ReActAgent({
    name: "streamer",
    model: { id: "streaming", stream: (request) => pieces(request, pieceMs) },
    distributedStore: store,
    eventFeed: true,
    persistence: "step",
    tools: [
      tool({
        name: "look",
        description: "Looks something up.",
        input: z.object({}),
        execute: async () => "found",
      }),
    ],
    ...options,
  });
}

async function* pieces({ messages, signal }, pieceMs) {
  const isAnswer = messages.at(-1).role !== "user";
  for (let word = 0; word < (isAnswer ? WORDS : 5); word++) {
    await delay(pieceMs, undefined, { signal });
    yield { type: "text_delta", text: `${isAnswer ? "answer" : "look"}${word} ` };
  }
  if (!isAnswer) yield { type: "tool_call", id: "t", name: "look", input: {} };
  const reason = isAnswer ? "stop" : "tool_calls";
  yield { type: "finish", reason, usage: { inputTokens: 1, outputTokens: 1 } };
}
