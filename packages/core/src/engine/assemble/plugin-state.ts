import { InvalidInputError, StateTooNewError } from "../../errors/errors.js";
import { StateCorruptError, StateTooLargeError } from "../../errors/store-errors.js";
import { isRecord, type JsonObject, type JsonValue, toJsonValue } from "../../json/json.js";
import type { PluginState, PluginStateOptions } from "../../middleware/plugin.js";
import type { AgentState } from "../../state/agent-state.js";

/** Largest state of one plugin in one session, as JSON. */
export const MAX_EXTENSION_BYTES = 65_536;

/**
 * Typed access to `state.extensions[plugin]`, stored as `{ version, value }`.
 *
 * @throws StateTooNewError when a newer version of the plugin wrote what is stored
 * @throws StateCorruptError on `get` when what is stored does not fit the schema even after migration
 * @throws InvalidInputError on `set` when the value does not fit the schema or cannot be kept as JSON
 * @throws StateTooLargeError on `set` past {@link MAX_EXTENSION_BYTES}
 */
export function pluginState<T extends JsonValue>(
  plugin: string,
  options: PluginStateOptions<T>,
): PluginState<T> {
  return {
    get(state: AgentState): T {
      const stored = storedOf(state, plugin);
      if (stored === undefined) return initialValue(plugin, options);
      refuseNewer(plugin, options, stored);
      const read = readStored(options, stored);
      if (read.problem === undefined) return read.value;
      const { problem, cause } = read;
      throw new StateCorruptError(
        `the state of plugin "${plugin}" ${problem}. Repair it with updateAgentState: set state.extensions[${JSON.stringify(plugin)}], or delete it`,
        { cause },
      );
    },
    set(state: AgentState, value: T): void {
      refuseNewer(plugin, options, storedOf(state, plugin));
      const copy = toJsonValue(value, `the state of plugin "${plugin}"`);
      const problem = schemaProblem(options, copy).problem;
      if (problem !== undefined)
        throw new InvalidInputError(`the state of plugin "${plugin}" ${problem}`);
      const bytes = Buffer.byteLength(JSON.stringify(copy), "utf8");
      if (bytes > MAX_EXTENSION_BYTES)
        throw new StateTooLargeError(
          `the state of plugin "${plugin}" would take ${bytes} bytes; at most ${MAX_EXTENSION_BYTES} are kept per session`,
        );
      Object.defineProperty(state.extensions, plugin, {
        value: { version: options.version ?? 1, value: copy },
        enumerable: true,
        configurable: true,
        writable: true,
      });
    },
  };
}

function storedOf({ extensions }: AgentState, plugin: string): JsonValue | undefined {
  return Object.hasOwn(extensions, plugin) ? extensions[plugin] : undefined;
}

/** In a rolling deploy an older node must not take the state of a newer one for its own, nor put its own in its place. */
function refuseNewer(
  plugin: string,
  options: PluginStateOptions<JsonValue>,
  stored: JsonValue | undefined,
): void {
  if (stored === undefined || !isNewer(options, stored)) return;
  throw new StateTooNewError(
    `the state of plugin "${plugin}" was written by a newer version of the plugin, as version ${(stored as JsonObject)["version"]}; this one reads version ${options.version ?? 1}. Upgrade the plugin in this process`,
  );
}

function isNewer({ version = 1 }: PluginStateOptions<JsonValue>, stored: JsonValue): boolean {
  return isRecord(stored) && typeof stored["version"] === "number" && stored["version"] > version;
}

/** @throws InvalidInputError */
function initialValue<T extends JsonValue>(plugin: string, options: PluginStateOptions<T>): T {
  const where = `the initial state of plugin "${plugin}"`;
  const read = schemaProblem(options, toJsonValue(options.initial(), where));
  if (read.problem !== undefined) throw new InvalidInputError(`${where} ${read.problem}`);
  return read.value;
}

/** Returns the problem that a plugin would have with its stored state, or null. */
export function storedStateProblem(
  options: PluginStateOptions<JsonValue>,
  stored: JsonValue,
): string | null {
  return readStored(options, stored).problem ?? null;
}

type ReadState<T> =
  | { readonly value: T; readonly problem?: undefined }
  | { readonly problem: string; readonly cause?: unknown };

function readStored<T extends JsonValue>(
  options: PluginStateOptions<T>,
  stored: JsonValue,
): ReadState<T> {
  if (!isRecord(stored) || typeof stored["version"] !== "number")
    return { problem: "has no version; it is stored as { version, value }" };
  const { version } = stored;
  let value = stored["value"] as JsonValue;
  if (isNewer(options, stored))
    return { problem: `is of version ${version}, which only a newer release of it can read` };
  if (version < (options.version ?? 1)) {
    if (!options.migrate)
      return { problem: `is of version ${version} and the plugin cannot migrate it` };
    try {
      value = options.migrate(value, version);
    } catch (cause) {
      return { problem: `is of version ${version} and its migration failed`, cause };
    }
  }
  return schemaProblem(options, value);
}

function schemaProblem<T extends JsonValue>(
  { schema }: PluginStateOptions<T>,
  value: JsonValue,
): ReadState<T> {
  const { validate, vendor } = schema["~standard"];
  let result: ReturnType<typeof validate>;
  try {
    result = validate(value);
  } catch (cause) {
    return { problem: "does not fit its schema, which failed", cause };
  }
  if (result instanceof Promise) {
    result.catch(() => undefined);
    return { problem: "has a schema that validates asynchronously, which is not supported" };
  }
  if (!result.issues) return { value: result.value };
  // The words of zod and of our own schemas name what is accepted; those of other libraries may quote the value.
  const words = result.issues.slice(0, 3).map(({ path = [], message }) => {
    const place = path.map((part) => String(isRecord(part) ? part["key"] : part)).join(".");
    return [place, ...(["zod", "holdfast"].includes(vendor) ? [message] : [])]
      .filter((word) => word !== "")
      .join(": ");
  });
  return { problem: `does not fit its schema (${words.join("; ") || "as a whole"})` };
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
