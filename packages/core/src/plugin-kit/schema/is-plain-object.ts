import { isRecord } from "../../json/json.js";

/** Tells whether a value is an object as JSON has them, and not the instance of a class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // The last prototype of every realm, such as that of `node:vm`.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
