import { definePlugin, type EventBody, type Plugin, type PluginHost } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { McpServers } from "./mcp-servers.js";
import type { McpGroup, McpServerChange, McpToolsOptions } from "./options/mcp-tools-options.js";
import { readOptions } from "./options/read-options.js";
import type { ServerSettings } from "./options/server-settings.js";

/**
 * Makes the tools of MCP servers tools of the agent: lists them when the agent starts, keeps them up to date, and calls them
 * over connections that are restored when they break.
 *
 * @throws ConfigurationError naming every invalid option
 * @example
 * const agent = new ReActAgent({
 *   name: "assistant", model,
 *   plugins: [mcpTools({ servers: { files: { command: "mcp-server-filesystem", args: ["/srv/docs"] } } })],
 * });
 */
export function mcpTools(options: McpToolsOptions): Plugin {
  const settings = readOptions(options);
  return definePlugin({
    name: "mcp",
    contract: 1,
    setup(host) {
      // Every agent has its own servers, so that the sessions of two agents do not affect each other.
      const servers = new McpServers(settings, (change) => emitChange(host, change));
      for (const group of groupsOf(settings.servers)) host.toolGroup(group);
      host.toolSource(() => servers.tools);
      host.onStart(() => servers.start());
      host.onClose(() => servers.close());
    },
  });
}

function emitChange({ agent, emit }: PluginHost, change: McpServerChange): void {
  emit({ agentId: agent.agentId, userId: null, sessionId: "-" }, uuidv7(), eventOf(change));
}

function eventOf(change: McpServerChange): EventBody {
  const { server } = change;
  if (change.type === "away") {
    const { reason, retryInMs } = change;
    return { type: "mcp_away", server, reason, retryInMs };
  }
  const type = change.type === "connected" ? "mcp_connected" : "mcp_tools_changed";
  return { type, server, tools: change.tools.length, leftOut: change.leftOut.length };
}

/** Merges the groups of all servers: several servers may share one, and only one of them needs to describe it. */
function groupsOf(servers: readonly ServerSettings[]): readonly McpGroup[] {
  const groups = new Map<string, McpGroup>();
  for (const { group } of servers)
    if (group) {
      const known = groups.get(group.name);
      groups.set(group.name, {
        name: group.name,
        description: known?.description ?? group.description,
        active: known?.active ?? group.active,
      });
    }
  return [...groups.values()];
}
