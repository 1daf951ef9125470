import { randomBytes } from "node:crypto";
import type { EncryptionKey, EncryptionOptions } from "@holdfast/encryption";

/** A key of its own for every run. */
export function freshKey(id: string): EncryptionKey {
  return { id, key: randomBytes(32) };
}

/** Options with one fresh key. */
export function freshOptions(): EncryptionOptions {
  return { keys: [freshKey("k1")] };
}
