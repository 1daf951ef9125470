import { checkKey, describeKey, namespaceText } from "@holdfast/core/store-kit";
import { digest } from "../keys.js";

/** Where a value is kept. */
export interface ValuePlace {
  /** `ns` and `kh`, the table's key. */
  readonly row: readonly [namespace: Buffer, key: Buffer];
  readonly name: Buffer;
  readonly head: Buffer;
  /** For errors. */
  readonly label: string;
}

/** @throws InvalidIdError */
export function valuePlace(namespace: readonly string[], key: string): ValuePlace {
  const name = Buffer.from(checkKey(key), "utf8");
  return {
    row: [namespaceHash(namespace), digest(key)],
    name,
    head: headOf(name),
    label: describeKey(key),
  };
}

/** Bytes of the `head` column. */
export const HEAD_BYTES = 700;

/** `head`: the front of a name, by which keys are listed. */
export function headOf(name: Buffer): Buffer {
  return name.subarray(0, HEAD_BYTES);
}

/**
 * `ns`: all values of a namespace.
 *
 * @throws InvalidIdError
 */
export function namespaceHash(namespace: readonly string[]): Buffer {
  return digest(namespaceText(namespace));
}
