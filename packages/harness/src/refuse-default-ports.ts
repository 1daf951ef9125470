import type { Plugin, PluginHost } from "@holdfast/core";
import type { PortName } from "@holdfast/core/plugin-kit";

/**
 * Returns the plugin with a host that refuses the ports for which the harness has chosen a default: the engine cannot tell it
 * from what the program chose, and would leave the plugin's unused.
 */
export function refuseDefaultPorts(plugin: Plugin, defaults: ReadonlySet<PortName>): Plugin {
  if (typeof plugin?.setup !== "function") return plugin;
  return {
    ...plugin,
    setup(host) {
      const provide: PluginHost["provide"] = (port, implementation) => {
        if (defaults.has(port))
          throw new Error(
            `it provides a ${port}, and the harness has its own by default, which the others of its parts depend on; pass the plugin's as the agent's ${port} option instead`,
          );
        host.provide(port, implementation);
      };
      plugin.setup({ ...host, provide });
    },
  };
}
