import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { countTokensApproximately } from "langchain";
import { fromLangchain } from "./langchain-messages.js";
import type { Script } from "./script.js";
import { messageTokens, remembering, writeMessage } from "./tokens.js";

/** Counts LangChain's messages as the provider does. */
export function langchainCounter(): (messages: BaseMessage[]) => number {
  const count = remembering(messageTokens);
  return (messages) => {
    let sum = 0;
    for (const message of fromLangchain(messages).messages) sum += count(writeMessage(message));
    return sum;
  };
}

/** Returns the tokens that LangChain's estimate by characters finds for one that the provider counts, on this script. */
export function estimatePerToken(script: Script): number {
  const messages = messagesOf(script);
  return countTokensApproximately(messages) / langchainCounter()(messages);
}

function messagesOf(script: Script): BaseMessage[] {
  const messages: BaseMessage[] = [];
  for (const { users, replies } of script.turns) {
    for (const user of users) messages.push(new HumanMessage(user));
    for (const { text, calls } of replies) {
      const identified = calls.map((call, index) => ({ ...call, id: `call_${index}` }));
      messages.push(
        new AIMessage({
          content: text,
          tool_calls: identified.map(({ id, name, input }) => ({
            type: "tool_call" as const,
            id,
            name,
            args: input as Record<string, unknown>,
          })),
        }),
      );
      for (const { id, name, result } of identified)
        messages.push(new ToolMessage({ content: result, tool_call_id: id, name }));
    }
  }
  return messages;
}
