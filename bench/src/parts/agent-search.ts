import { type ConversationLog, ReActAgent } from "@holdfast/core";
import { sessionTools } from "@holdfast/session-tools";
import { scriptedModel } from "@holdfast/testing";
import type { LogSearch, searchedUser } from "./search-logs.js";

/** Searches as an agent does, in a call in which the model uses `session_search`; what counts is the time of the tool. */
export function agentSearch(
  log: ConversationLog,
  { agentId, userId }: typeof searchedUser,
): LogSearch {
  return async (query) => {
    const call = { name: "session_search", input: { query } };
    const model = scriptedModel([{ toolCalls: [call] }, "done"]);
    let toolMs = Number.NaN;
    const agent = new ReActAgent({
      name: agentId,
      model,
      log,
      plugins: [sessionTools()],
      onEvent: (event) => {
        if (event.type === "tool_result" && event.state === "success") toolMs = event.durationMs;
      },
    });
    await agent.call("Find it.", { userId, sessionId: "searching" });
    await agent.close();
    if (Number.isNaN(toolMs)) throw new Error("session_search failed");
    return toolMs;
  };
}
