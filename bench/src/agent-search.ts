import { type ConversationLog, ReActAgent } from "@holdfast/core";
import { sessionTools } from "@holdfast/session-tools";
import { scriptedModel } from "@holdfast/testing";
import type { LogSearch, searchedUser } from "./search-logs.js";

/** Searches as an agent does: a whole call in which the model uses `session_search`. */
export function agentSearch(
  log: ConversationLog,
  { agentId, userId }: typeof searchedUser,
): LogSearch {
  return async (query) => {
    const call = { name: "session_search", input: { query } };
    const model = scriptedModel([{ toolCalls: [call] }, "done"]);
    const agent = new ReActAgent({ name: agentId, model, log, plugins: [sessionTools()] });
    await agent.call("Find it.", { userId, sessionId: "searching" });
    await agent.close();
  };
}
