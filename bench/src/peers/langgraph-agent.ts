import type { Contender } from "../measure/contender.js";
import { answerText, questionText } from "../stores/sample-turn.js";
import type { LangchainMessage, LangchainMessages } from "./langchain-model.js";
import type { PeerModules } from "./peer.js";

/** Part of an agent on LangGraph that is used. */
export interface LanggraphAgent {
  invoke(
    input: { readonly messages: readonly LangchainMessage[] },
    config: { readonly configurable: { readonly thread_id: string } },
  ): Promise<unknown>;
}

/** Exports of `@langchain/langgraph` that are used. */
export interface LanggraphModule {
  readonly MemorySaver: new () => object;
}

/** Takes turns on an agent that keeps threads in a checkpointer. */
export async function langgraphTurns(
  agent: LanggraphAgent,
  { load }: PeerModules,
): Promise<Pick<Contender, "seed" | "turn">> {
  const { HumanMessage, AIMessage } = await load<LangchainMessages>("@langchain/core/messages");
  const say = (sessionId: string, messages: readonly LangchainMessage[]) =>
    agent.invoke({ messages }, { configurable: { thread_id: sessionId } });
  return {
    async seed(sessionId, messages) {
      // The last message is a question, and the agent answers it.
      const history = Array.from({ length: messages - 1 }, (_, n) =>
        n % 2 === 0 ? new HumanMessage(questionText) : new AIMessage(answerText),
      );
      await say(sessionId, history);
    },
    async turn(sessionId) {
      await say(sessionId, [new HumanMessage(questionText)]);
    },
  };
}
