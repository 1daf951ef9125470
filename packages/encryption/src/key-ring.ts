import { createSecretKey, type KeyObject } from "node:crypto";
import { ConfigurationError } from "@holdfast/core";
import { isRecord, unknownNames } from "@holdfast/core/plugin-kit";

/** Key and the id by which stored records refer to it. */
export interface EncryptionKey {
  /** 1 to 32 letters, digits, `_` and `-`; stored in plain text with every record. Never reuse it for another key. */
  readonly id: string;
  /** 32 random bytes, or their base64. */
  readonly key: Uint8Array | string;
}

/** Options of `withEncryption`. */
export interface EncryptionOptions {
  /** Keys: the first one encrypts, all of them decrypt. */
  readonly keys: readonly EncryptionKey[];
  /**
   * Also reads data that was stored before encryption was switched on; new writes are encrypted all the same. For the time
   * of a migration only: while it is on, anyone who can write to the store can add plaintext records unnoticed.
   * @default false
   */
  readonly readPlaintext?: boolean | undefined;
}

/** Checked options. */
export interface KeyRing {
  /** Keys by id. */
  readonly keys: ReadonlyMap<string, KeyObject>;
  /** Id of the key that encrypts. */
  readonly encryptsWith: string;
  readonly readPlaintext: boolean;
}

const keyId = /^[A-Za-z0-9_-]{1,32}$/;
const base64Key = /^[A-Za-z0-9+/_-]{43}=?$/;

/**
 * Checks the options by hand: the errors of a schema library would show the key.
 *
 * @throws ConfigurationError with every problem found
 */
export function readKeyRing(options: EncryptionOptions): KeyRing {
  const { keys: list, readPlaintext = false }: Record<string, unknown> = { ...options };
  const problems = [...unknownNames({ ...options }, ["keys", "readPlaintext"], "option")];
  if (typeof readPlaintext !== "boolean")
    problems.push("option readPlaintext must be true or false");
  if (!Array.isArray(list) || list.length === 0)
    problems.push("option keys must be a list of at least one { id, key }");
  const keys = new Map<string, KeyObject>();
  for (const [index, entry] of (Array.isArray(list) ? list : []).entries()) {
    const { id, key }: Record<string, unknown> = isRecord(entry) ? entry : {};
    const bytes = keyBytes(key);
    if (bytes?.length !== 32)
      problems.push(`option keys[${index}].key must be 32 bytes, or the base64 of 32 bytes`);
    if (typeof id !== "string" || !keyId.test(id))
      problems.push(`option keys[${index}].id must be 1 to 32 letters, digits, "_" or "-"`);
    else if (keys.has(id)) problems.push(`option keys names two keys "${id}"`);
    else if (bytes !== null) keys.set(id, createSecretKey(bytes));
  }
  if (problems.length > 0)
    throw new ConfigurationError(problems.map((problem) => `withEncryption: ${problem}`));
  const [encryptsWith = ""] = keys.keys();
  return { keys, encryptsWith, readPlaintext: readPlaintext === true };
}

function keyBytes(key: unknown): Buffer | null {
  if (key instanceof Uint8Array) return Buffer.from(key);
  return typeof key === "string" && base64Key.test(key) ? Buffer.from(key, "base64") : null;
}
