import { answerText } from "../stores/sample-turn.js";
import type { PeerModules } from "./peer.js";

/** Message of LangChain. */
export type LangchainMessage = object;

/** Classes of LangChain's messages. */
export interface LangchainMessages {
  readonly HumanMessage: new (text: string) => LangchainMessage;
  readonly AIMessage: new (text: string) => LangchainMessage;
}

interface ChatModels {
  readonly BaseChatModel: new (fields: object) => object;
}

/** Makes a model for LangChain's agents that answers at once with the same text. */
export async function langchainModel({ load }: PeerModules): Promise<object> {
  const { BaseChatModel } = await load<ChatModels>("@langchain/core/language_models/chat_models");
  const { AIMessage } = await load<LangchainMessages>("@langchain/core/messages");
  class ReplyModel extends BaseChatModel {
    _llmType(): string {
      return "reply";
    }

    bindTools(): this {
      return this;
    }

    async _generate(): Promise<object> {
      return { generations: [{ text: answerText, message: new AIMessage(answerText) }] };
    }
  }
  return new ReplyModel({});
}
