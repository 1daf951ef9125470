import { join } from "node:path";
import { pathSegment } from "@holdfast/core/store-kit";
import type { Place } from "../document/place.js";
import { parentsUpTo } from "../layout.js";

const KEY_PREFIX = "key-";

/** Directory of a namespace: `<root>/ns-<part>/ns-<part>`; the prefix keeps parts of namespaces apart from keys. */
export function namespaceDirectory(root: string, namespace: readonly string[]): string {
  return join(root, ...namespace.map((part) => `ns-${pathSegment(part)}`));
}

/** Location of a value. */
export function valuePlace(root: string, namespace: readonly string[], key: string): Place {
  const directory = join(namespaceDirectory(root, namespace), `${KEY_PREFIX}${pathSegment(key)}`);
  return {
    directory,
    parents: parentsUpTo(directory, root),
    ids: [...namespace, key],
    label: `the value of key ${shown(key)} in namespace ${namespace.map(shown).join("/")}`,
  };
}

/** Returns the part of a directory name that stands for a key; null when it is not the directory of a key. */
export function keySegment(name: string): string | null {
  return name.startsWith(KEY_PREFIX) ? name.slice(KEY_PREFIX.length) : null;
}

function shown(name: string): string {
  return JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}…` : name);
}
