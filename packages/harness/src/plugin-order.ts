import type { Plugin } from "@holdfast/core";

/**
 * The built-in plugins, outermost first.
 *
 * Why this order: otel's spans cover what the others do. workspace comes next because its sections of the system
 * prompt come before everybody else's. memory-flush sits outside compaction, so that facts are saved from a context
 * before it shrinks, and eviction around everything that makes tool results, so that it sees their final form. The rest
 * mostly bring tools; a fixed place for each keeps the request's prefix the same, on which prompt caches depend.
 */
export const builtInPlugins: readonly string[] = [
  "otel",
  "workspace",
  "memory-flush",
  "compaction",
  "eviction",
  "permissions",
  "planning",
  "subagents",
  "session-tools",
  "mcp",
];

/** Built-ins in their fixed order, then all others in the order they were added. */
export function inFixedOrder(plugins: readonly Plugin[]): Plugin[] {
  const place = (plugin: Plugin): number => {
    const index = builtInPlugins.indexOf(plugin?.name);
    return index === -1 ? builtInPlugins.length : index;
  };
  return plugins.toSorted((one, other) => place(one) - place(other));
}
