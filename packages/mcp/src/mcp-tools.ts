import {
  definePlugin,
  type EventBody,
  InvalidInputError,
  type Plugin,
  type PluginHost,
} from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { holderOf, isStored } from "./auth/authorizers.js";
import type { McpAuthorization } from "./auth/oauth-options.js";
import { TokenStore } from "./auth/token-store.js";
import { McpServers } from "./mcp-servers.js";
import type {
  McpGroup,
  McpRedirect,
  McpServerChange,
  McpToolsOptions,
} from "./options/mcp-tools-options.js";
import { readOptions } from "./options/read-options.js";
import type { ServerSettings } from "./options/server-settings.js";

/** Plugin with MCP servers; made with {@link mcpTools}. */
export interface McpPlugin extends Plugin {
  /**
   * Finishes an authorization when the browser comes back to the `redirectUrl` of `oauth()`, in any process that has an agent
   * with the same servers and store. A state works once.
   *
   * @returns the server, and the user whose authorization it is
   * @throws InvalidInputError without a code, and when nothing was begun with this state, or by another user than `userId`
   * @throws McpServerError when the authorization server refuses the code
   */
  finishAuthorization(redirect: McpRedirect): Promise<McpAuthorization>;
}

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
export function mcpTools(options: McpToolsOptions): McpPlugin {
  const settings = readOptions(options);
  const needsStore = settings.servers.some(
    ({ endpoint }) => endpoint.kind === "http" && isStored(endpoint.auth),
  );
  const agents = new Set<McpServers>();
  const plugin = definePlugin({
    name: "mcp",
    contract: 1,
    setup(host) {
      // Every agent has its own servers, so that the sessions of two agents do not affect each other.
      const servers = new McpServers({
        settings,
        tokens: needsStore
          ? new TokenStore(host.require("keyValue"), host.agent.agentId)
          : undefined,
        emit: (change) => emitChange(host, change),
      });
      agents.add(servers);
      for (const group of groupsOf(settings.servers)) host.toolGroup(group);
      host.toolSource(() => servers.tools);
      host.onStart(() => servers.start());
      // The next person with the same id must not act with these tokens.
      host.onDeleteUser((id) => servers.forget({ kind: "user", id }));
      host.onDelete(async (slot) => {
        if (slot.userId === null) await servers.forget(holderOf(slot));
      });
      host.onClose(() => {
        agents.delete(servers);
        return servers.close();
      });
    },
  });
  return {
    ...plugin,
    async finishAuthorization(redirect) {
      const { state, code } = redirect;
      if (typeof state !== "string" || typeof code !== "string" || state === "" || code === "")
        throw new InvalidInputError(
          "mcpTools: an authorization is finished with a state and a code; without a code the person, or the server, has refused it",
        );
      for (const servers of agents) {
        const finished = await servers.finishAuthorization(redirect);
        if (finished) return finished;
      }
      throw new InvalidInputError(
        "mcpTools: no authorization was begun with this state within 15 minutes, or it was finished already, or another user began it; begin again",
      );
    },
  };
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
