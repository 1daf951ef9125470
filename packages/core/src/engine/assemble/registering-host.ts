import { ConfigurationError } from "../../errors/errors.js";
import { isRecord } from "../../json/json.js";
import type { PluginHost, PluginStateOptions } from "../../middleware/plugin.js";
import { showValue } from "../../plugin-kit/show-value.js";
import { unknownNames } from "../../plugin-kit/unknown-names.js";

type Check = (...given: readonly unknown[]) => string | null;

/** Methods by which a plugin registers parts of an agent, with what each is given; parts are checked where they are collected. */
const registrations: { readonly [M in keyof PluginHost]?: Check } = {
  use: () => null,
  tool: () => null,
  toolGroup: () => null,
  provide: () => null,
  toolSource: needFunction,
  promptSection: (append, prefetch = append) => needFunction(append) ?? needFunction(prefetch),
  state: stateProblem,
  onBuild: needFunction,
  onStart: needFunction,
  onClose: needFunction,
  onHealth: needFunction,
  onDelete: needFunction,
  onDeleteUser: needFunction,
};

/**
 * Returns a host that refuses what cannot work, where it is registered: later nobody could tell which plugin it came from. A
 * part that is registered after the agent was built would be left out, be it one that redacts.
 *
 * @throws ConfigurationError
 */
export function registeringHost(
  plugin: string,
  host: PluginHost,
  isBuilt: () => boolean,
): PluginHost {
  const methods = Object.entries(registrations).map(([method, check]) => {
    const register = (...given: readonly unknown[]): unknown => {
      if (isBuilt())
        throw new ConfigurationError(
          `plugin "${plugin}" called host.${method} after its agent was built; register everything in setup, before it returns`,
        );
      const problem = check(...given);
      if (problem !== null) throw new ConfigurationError(`host.${method} ${problem}`);
      return (host[method as keyof PluginHost] as (...args: readonly unknown[]) => unknown)(
        ...given,
      );
    };
    return [method, register];
  });
  return { ...host, ...Object.fromEntries(methods) };
}

function needFunction(given: unknown): string | null {
  return typeof given === "function" ? null : `needs a function, got ${showValue(given)}`;
}

const stateOptions: { readonly [O in keyof PluginStateOptions<never>]-?: true } = {
  schema: true,
  initial: true,
  version: true,
  forks: true,
  migrate: true,
};

function stateProblem(given: unknown): string | null {
  const { schema, initial } = isRecord(given) ? given : {};
  const standard = (schema as Partial<PluginStateOptions<never>["schema"]> | undefined)?.[
    "~standard"
  ];
  if (typeof standard?.validate !== "function" || typeof initial !== "function")
    return "needs { schema, initial }: a schema such as one of zod, and a function";
  const [unknown] = unknownNames(given as object, Object.keys(stateOptions), "option");
  return unknown === undefined ? null : `was given the ${unknown}`;
}
