import { checkKey, describeKey, namespaceText } from "@holdfast/core/store-kit";
import { digest } from "../keys.js";

/** Location of a value in the table. */
export interface ValueLocation {
  /** Columns `ns` and `kh`, the primary key. */
  readonly row: readonly [namespace: Buffer, key: Buffer];
  readonly name: Buffer;
  readonly head: Buffer;
  /** For errors. */
  readonly label: string;
}

/** Returns the location of a value. @throws InvalidIdError */
export function valueLocation(namespace: readonly string[], key: string): ValueLocation {
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

/** Column `head`: the start of a name, by which keys are listed. */
export function headOf(name: Buffer): Buffer {
  return name.subarray(0, HEAD_BYTES);
}

/**
 * Column `ns`: the same for all values of a namespace.
 *
 * @throws InvalidIdError
 */
export function namespaceHash(namespace: readonly string[]): Buffer {
  return digest(namespaceText(namespace));
}
