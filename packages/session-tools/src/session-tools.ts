import { definePlugin, type Plugin } from "@holdfast/core";
import { sessionHistoryTool } from "./history/session-history.js";
import { sessionListTool } from "./list/session-list.js";
import { ConversationSearch } from "./ranked/conversation-search.js";
import { sessionSearchTool } from "./search/session-search.js";
import { readOptions, type SessionToolsOptions } from "./session-tools-options.js";

/**
 * Adds tools with which an agent lists, reads and searches the conversations of its user: `session_list`,
 * `session_history` and `session_search`. They read the conversation log, which also has what left the context.
 *
 * @throws ConfigurationError naming every option that is wrong
 * @example
 * const agent = new ReActAgent({ name: "assistant", model, plugins: [sessionTools()] });
 */
export function sessionTools(options: SessionToolsOptions = {}): Plugin {
  const settings = readOptions(options);
  return definePlugin({
    name: "session-tools",
    contract: 1,
    setup(host) {
      const log = host.require("log");
      const conversations = new ConversationSearch({ log, ...settings });
      const parts = { log, stateStore: host.require("stateStore"), settings, conversations };
      host.tool(sessionListTool(parts));
      host.tool(sessionHistoryTool(parts));
      host.tool(sessionSearchTool(parts));
      host.onDelete((slot) => conversations.forgetSession(slot));
      host.onDeleteUser(async (userId) => conversations.forgetUser(userId));
    },
  });
}
