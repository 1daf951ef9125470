import { definePlugin, type Plugin } from "@holdfast/core";
import type { McpGroup, McpToolsOptions } from "./options/mcp-tools-options.js";
import { readOptions } from "./options/read-options.js";
import type { ServerSettings } from "./options/server-settings.js";
import { ServerFleet } from "./server-fleet.js";

/**
 * Tools of MCP servers as tools of the agent: listed when the agent starts, kept up to date, and called over connections
 * that are brought back when they break.
 *
 * @throws ConfigurationError naming every option that is wrong
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
      // Servers of its own for every agent: what one agent's session does to a server is not seen by another's.
      const fleet = new ServerFleet(settings);
      for (const group of groupsOf(settings.servers)) host.toolGroup(group);
      host.toolSource(() => fleet.tools);
      host.onStart(() => fleet.start());
      host.onClose(() => fleet.close());
    },
  });
}

/** Each group once: several servers may share one, and one that says more than its name is enough. */
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
