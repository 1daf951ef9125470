import { createHash } from "node:crypto";
import { namespaceText } from "@holdfast/core/store-kit";

/** Where a namespace is kept: all its keys have one hash tag and so live on the same node. */
export interface NamespaceKeys {
  /** A hash: key → version, line feed, JSON. */
  readonly values: string;
  /** The keys once more, as members of a sorted set, for listing them in order. */
  readonly names: string;
  /** Marks a write as done, for a while. */
  done(write: string): string;
}

/** @throws InvalidIdError unless `namespace` is one */
export function namespaceKeys(prefix: string, namespace: readonly string[]): NamespaceKeys {
  const digest = createHash("sha256").update(namespaceText(namespace), "utf8").digest("hex");
  const base = `${prefix}v1:{${digest}}`;
  return {
    values: `${base}:kv`,
    names: `${base}:kv-names`,
    done: (write) => `${base}:kv-done:${write}`,
  };
}
