import { StateCorruptError, StateTooLargeError } from "../../errors/store-errors.js";
import { isRecord, type JsonValue, toJsonValue } from "../../json/json.js";
import type { PluginState, PluginStateOptions } from "../../middleware/plugin.js";
import type { AgentState } from "../../state/agent-state.js";

/** Largest state of one plugin in one session, as JSON. */
export const MAX_EXTENSION_BYTES = 65_536;

/**
 * Typed access to `state.extensions[plugin]`, stored as `{ version, value }`.
 *
 * @throws StateCorruptError on `get` when what is stored does not fit the schema even after migration
 * @throws StateTooLargeError on `set` past {@link MAX_EXTENSION_BYTES}
 */
export function pluginState<T extends JsonValue>(
  plugin: string,
  options: PluginStateOptions<T>,
): PluginState<T> {
  const current = options.version ?? 1;
  return {
    get(state: AgentState): T {
      const stored = Object.hasOwn(state.extensions, plugin) ? state.extensions[plugin] : undefined;
      if (stored === undefined) return options.initial();
      if (!isRecord(stored) || typeof stored["version"] !== "number")
        throw new StateCorruptError(`the state of plugin "${plugin}" has no version`);
      let value = stored["value"] as JsonValue;
      if (stored["version"] < current) {
        if (!options.migrate)
          throw new StateCorruptError(
            `the state of plugin "${plugin}" is of version ${stored["version"]} and the plugin cannot migrate it`,
          );
        try {
          value = options.migrate(value, stored["version"]);
        } catch (cause) {
          throw new StateCorruptError(
            `the state of plugin "${plugin}" is of version ${stored["version"]} and its migration failed`,
            { cause },
          );
        }
      }
      const result = options.schema["~standard"].validate(value);
      if (result instanceof Promise || result.issues)
        throw new StateCorruptError(`the state of plugin "${plugin}" does not fit its schema`);
      return result.value;
    },
    set(state: AgentState, value: T): void {
      const copy = toJsonValue(value, `state of plugin "${plugin}"`);
      const bytes = Buffer.byteLength(JSON.stringify(copy), "utf8");
      if (bytes > MAX_EXTENSION_BYTES)
        throw new StateTooLargeError(
          `the state of plugin "${plugin}" would take ${bytes} bytes; at most ${MAX_EXTENSION_BYTES} are kept per session`,
        );
      Object.defineProperty(state.extensions, plugin, {
        value: { version: current, value: copy },
        enumerable: true,
        configurable: true,
        writable: true,
      });
    },
  };
}

/** Returns an object that stands for a port until it is provided: plugins may be set up in any order. */
export function forwardTo(resolve: () => object | undefined, port: string): object {
  return new Proxy(
    {},
    {
      get(_, key) {
        const target = resolve();
        if (!target) throw new TypeError(`the ${port} is not there before the agent is built`);
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
      has: (_, key) => Reflect.has(resolve() ?? {}, key),
    },
  );
}
