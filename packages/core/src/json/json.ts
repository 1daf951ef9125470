import { InvalidInputError } from "../errors/errors.js";

/** Any value JSON can hold. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** Deeper values are refused: `JSON.stringify` fails on them later and would poison the session. */
export const MAX_JSON_DEPTH = 256;

/** Whether `value` is an object that is neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A frozen deep copy of `value` as JSON would keep it: undefined properties are left out, `toJSON` is honoured, `-0`
 * becomes `0`.
 *
 * @param where - named in the error, for example `input of tool "search"`
 * @throws InvalidInputError for NaN, Infinity, bigint, functions, symbols, cycles and depth over {@link MAX_JSON_DEPTH}
 */
export function toJsonValue(value: unknown, where: string): JsonValue {
  return copy(value, where, 0);
}

function copy(value: unknown, path: string, depth: number): JsonValue {
  if (depth > MAX_JSON_DEPTH)
    throw new InvalidInputError(`${path} is nested deeper than ${MAX_JSON_DEPTH} levels`);
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value))
        throw new InvalidInputError(`${path} is ${value}, which JSON cannot hold`);
      return value === 0 ? 0 : value;
    case "object":
      if (value === null) return null;
      break;
    default:
      throw new InvalidInputError(`${path} is a ${typeof value}, which JSON cannot hold`);
  }
  if ("toJSON" in value && typeof value.toJSON === "function")
    return copy(value.toJSON(), path, depth + 1);
  if (Array.isArray(value))
    return Object.freeze(
      value.map((item, index) =>
        item === undefined ? null : copy(item, `${path}[${index}]`, depth + 1),
      ),
    );
  const result: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries(value))
    if (item !== undefined) define(result, key, copy(item, `${path}.${key}`, depth + 1));
  return Object.freeze(result);
}

// Plain assignment to "__proto__" would set the prototype instead of a property.
function define(target: Record<string, JsonValue>, key: string, value: JsonValue): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  else target[key] = value;
}

/** Depth of parsed JSON, without recursion, stopping as soon as it is over the limit. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    const next: unknown[] = [];
    for (const item of level)
      if (typeof item === "object" && item !== null)
        for (const child of Array.isArray(item) ? item : Object.values(item))
          if (typeof child === "object" && child !== null) next.push(child);
    level = next;
  }
  return false;
}

/** Freezes parsed JSON all the way down and returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const child of Object.values(value)) deepFreeze(child);
  }
  return value;
}
