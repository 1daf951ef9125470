import { ConfigurationError, type PluginHost } from "@holdfast/core";

/** Methods that are for `setup` alone, as an agent has them. */
const registrations = /^(use|tool(Source|Group)?|promptSection|provide|state|on[A-Z]\w*)$/;

/** Returns a host as `setup` gets it: it registers nothing more once the agent would be built. */
export function setupHost(plugin: string, host: PluginHost, isBuilt: () => boolean): PluginHost {
  return new Proxy(host, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      return (...given: readonly unknown[]): unknown => {
        if (isBuilt() && registrations.test(String(key)))
          throw new ConfigurationError(
            `plugin "${plugin}" called host.${String(key)} after setup; register everything before setup returns`,
          );
        return Reflect.apply(value, target, given);
      };
    },
  });
}
