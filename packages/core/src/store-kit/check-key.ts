import { InvalidIdError } from "../errors/errors.js";
import { StateTooLargeError } from "../errors/store-errors.js";
import { type JsonValue, toJsonValue } from "../json/json.js";
import { checkName } from "../slot/slot.js";

/** Longest key of a key-value store and longest part of a namespace, in UTF-16 units. */
export const MAX_KEY_LENGTH = 1_024;

/** Largest value of a key-value store, in bytes of its JSON in UTF-8. */
export const MAX_VALUE_BYTES = 1_048_576;

/**
 * Returns `key` when a key-value store can use it.
 *
 * @throws InvalidIdError unless it is a non-empty well-formed string of at most {@link MAX_KEY_LENGTH} UTF-16 units
 */
export function checkKey(key: unknown): string {
  return checkName(key, "key", MAX_KEY_LENGTH);
}

/**
 * Returns `namespace` when it is a path of at least one part.
 *
 * @throws InvalidIdError when it is empty or a part is not acceptable; see {@link checkKey}
 */
export function checkNamespace(namespace: readonly string[]): readonly string[] {
  if (!Array.isArray(namespace) || namespace.length === 0)
    throw new InvalidIdError("a namespace must be a list of at least one string");
  return namespace.map((part: unknown, index) =>
    checkName(part, `part ${index} of a namespace`, MAX_KEY_LENGTH),
  );
}

/** Returns an injective text form of a namespace: every part is preceded by its length. @throws InvalidIdError */
export function namespaceText(namespace: readonly string[]): string {
  return checkNamespace(namespace)
    .map((part) => `${part.length}:${part}`)
    .join("");
}

/**
 * Returns the JSON text that a key-value store keeps for `value`.
 *
 * @throws InvalidInputError when JSON cannot hold it
 * @throws StateTooLargeError when it is over {@link MAX_VALUE_BYTES}
 */
export function checkValue(key: string, value: JsonValue): string {
  const where = `the value of ${describeKey(key)}`;
  const text = JSON.stringify(toJsonValue(value, where));
  const bytes = Buffer.byteLength(text, "utf8");
  if (bytes > MAX_VALUE_BYTES)
    throw new StateTooLargeError(
      `${where} takes ${bytes} bytes as JSON; at most ${MAX_VALUE_BYTES} are accepted, split it over several keys`,
    );
  return text;
}

/** Returns the name of a key for errors and logs. */
export function describeKey(key: string): string {
  return `key ${JSON.stringify(key.length > 64 ? `${key.slice(0, 64)}…` : key)}`;
}

/**
 * Compares two keys by their code points, which is the order of their UTF-8 bytes: the order of listings in every store. (`sort()`
 * compares UTF-16 units, by which U+1F600 comes before U+FF5E.)
 *
 * @returns a negative number when `a` comes first, 0 when they are equal
 */
export function compareKeys(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at++) {
    const one = a.charCodeAt(at);
    const other = b.charCodeAt(at);
    if (one !== other) return rankOf(one) - rankOf(other);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above all others of 16 bits. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
