import { definePlugin, type Plugin } from "@holdfast/core";
import { McpServers } from "./mcp-servers.js";
import type { McpGroup, McpToolsOptions } from "./options/mcp-tools-options.js";
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
      const servers = new McpServers(settings);
      for (const group of groupsOf(settings.servers)) host.toolGroup(group);
      host.toolSource(() => servers.tools);
      host.onStart(() => servers.start());
      host.onClose(() => servers.close());
    },
  });
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
