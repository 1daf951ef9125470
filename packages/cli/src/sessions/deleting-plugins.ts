import type { Plugin, PluginHost } from "@holdfast/core";
import type { HoldfastConfig } from "../config/define-config.js";

/**
 * Returns the plugins of an agent that only deletes: those that a chat has with this config, and the ones that other programs may
 * have had, with what each keeps of a session.
 */
export async function deletingPlugins(config: HoldfastConfig): Promise<readonly Plugin[]> {
  const [{ pluginsOf }, { memoryFlush }, { planning }, { subagents }] = await Promise.all([
    import("../chat/open-chat.js"),
    import("@holdfast/memory-flush"),
    import("@holdfast/planning"),
    import("@holdfast/subagents"),
  ]);
  const own = [memoryFlush({ flushTrigger: "never" }), subagents({ directory: false })];
  const isNew = ({ name }: Plugin) => own.every((plugin) => plugin.name !== name);
  const others = [...pluginsOf(config).filter(isNew)];
  if (others.every(({ name }) => name !== "planning")) others.push(planning());
  return [...own, ...others.map(deletingOnly)];
}

/** Leaves out what only calls need: tools, which may clash with those of a plugin added here, and a start that connects somewhere. */
function deletingOnly(plugin: Plugin): Plugin {
  const { name, contract } = plugin;
  return {
    name,
    contract,
    setup(host) {
      const starts: Parameters<PluginHost["onStart"]>[0][] = [];
      let deletes = false;
      plugin.setup({
        ...host,
        tool: () => {},
        toolGroup: () => {},
        toolSource: () => {},
        onBuild: () => {},
        onStart: (run) => void starts.push(run),
        onDelete: (run) => {
          deletes = true;
          host.onDelete(run);
        },
      });
      // A plugin may need its start to delete; the tokens for MCP servers are deleted without the servers.
      if (deletes && name !== "mcp") for (const run of starts) host.onStart(run);
    },
  };
}
