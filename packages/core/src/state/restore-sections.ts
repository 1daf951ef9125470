import { isRecord } from "../json/json.js";
import { checkedSection, type StateHead } from "./head.js";
import { openSections } from "./section-checks.js";
import type { Extensions } from "./sections.js";

/**
 * Puts sections that cannot be stored back to those of `base`; of the plugins' states only the bad ones.
 *
 * @returns names of what was put back
 */
export function restoreBadSections(head: StateHead, base: StateHead): string[] {
  const restored: string[] = [];
  for (const name of openSections) {
    if (canBeStored(() => checkedSection(name, head[name]))) continue;
    if (name === "extensions" && isRecord(head.extensions)) {
      const bad = Object.keys(head.extensions).filter(
        (plugin) => !canBeStored(() => checkedSection(name, { [plugin]: head.extensions[plugin] })),
      );
      restoreExtensions(head, base, bad);
      restored.push(...bad.map((plugin) => `extensions[${JSON.stringify(plugin)}]`));
    } else {
      Object.assign(head, { [name]: base[name] });
      restored.push(name);
    }
  }
  return restored;
}

/** Puts the states of some plugins back to those of `base`. */
export function restoreExtensions(
  head: StateHead,
  base: StateHead,
  plugins: readonly string[],
): void {
  const kept = Object.keys(head.extensions).filter((plugin) => !plugins.includes(plugin));
  const before = Object.entries(base.extensions).filter(([plugin]) => plugins.includes(plugin));
  head.extensions = Object.fromEntries([
    ...kept.map((plugin) => [plugin, head.extensions[plugin]] as const),
    ...before,
  ]) as Extensions;
}

function canBeStored(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}
