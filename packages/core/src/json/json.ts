import { InvalidInputError } from "../errors/errors.js";

/** Value that JSON can hold. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** Deepest nesting accepted: `JSON.stringify` would fail on deeper values later, at every save of the session. */
export const MAX_JSON_DEPTH = 256;

/** Tells whether `value` is an object other than null and arrays. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns a frozen deep copy of `value` as JSON would keep it: undefined properties are left out, `toJSON` is honoured,
 * `-0` becomes `0`.
 *
 * @param where - named in the error, for example `input of tool "search"`
 * @param maxDepth - deepest nesting of objects and arrays
 * @throws InvalidInputError for NaN, Infinity, bigint, functions, symbols, Map, Set, cycles and depth over `maxDepth`
 */
export function toJsonValue(
  value: unknown,
  where: string,
  maxDepth: number = MAX_JSON_DEPTH,
): JsonValue {
  const quick = quickCopy(value, maxDepth);
  if (quick !== REFUSED && quick !== undefined) return quick;
  const result = copy(value, where, maxDepth);
  if (result === undefined) throw refusal(where, "is undefined, which JSON cannot hold");
  return result;
}

/** Says that {@link copy} has to tell what is wrong. */
const REFUSED = Symbol("refused");

/** Copies as {@link copy} does, without the names of places, which only an error needs. */
function quickCopy(original: unknown, levels: number): JsonValue | undefined | typeof REFUSED {
  const value = plainForm(original);
  switch (typeof value) {
    case "undefined":
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value + 0 : REFUSED;
    case "object":
      if (value === null) return null;
      break;
    default:
      return REFUSED;
  }
  if (levels <= 0 || value instanceof Map || value instanceof Set) return REFUSED;
  if (Array.isArray(value)) {
    const list: JsonValue[] = [];
    for (const item of value) {
      const kept = quickCopy(item, levels - 1);
      if (kept === REFUSED) return REFUSED;
      list.push(kept ?? null);
    }
    return Object.freeze(list);
  }
  const result: Record<string, JsonValue> = {};
  for (const key of Object.keys(value)) {
    const kept = quickCopy((value as Record<string, unknown>)[key], levels - 1);
    if (kept === REFUSED) return REFUSED;
    if (kept !== undefined) define(result, key, kept);
  }
  return Object.freeze(result);
}

function copy(original: unknown, path: string, levels: number): JsonValue | undefined {
  const value = plainForm(original);
  switch (typeof value) {
    case "undefined":
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) throw refusal(path, `is ${value}, which JSON cannot hold`);
      return value === 0 ? 0 : value;
    case "object":
      if (value === null) return null;
      break;
    default:
      throw refusal(path, `is a ${typeof value}, which JSON cannot hold`);
  }
  if (levels <= 0) throw refusal(path, `is nested deeper than ${MAX_JSON_DEPTH} levels`);
  if (Array.isArray(value))
    // Not `map`, which would keep the holes of a sparse array.
    return Object.freeze(
      Array.from(value, (item, index) => copy(item, `${path}[${index}]`, levels - 1) ?? null),
    );
  if (value instanceof Map || value instanceof Set)
    throw refusal(
      path,
      `is a ${value.constructor.name}, which JSON cannot hold; pass an object or a list`,
    );
  const result: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries(value)) {
    const kept = copy(item, `${path}.${key}`, levels - 1);
    if (kept !== undefined) define(result, key, kept);
  }
  return Object.freeze(result);
}

/** Calls `toJSON` once where there is one, as `JSON.stringify` does. */
function plainForm(value: unknown): unknown {
  if (!isContainer(value)) return value;
  const { toJSON } = value as { readonly toJSON?: unknown };
  return typeof toJSON === "function" ? toJSON.call(value) : value;
}

function refusal(path: string, problem: string): InvalidInputError {
  const place = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return new InvalidInputError(`${place} ${problem}`);
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

/**
 * Tells whether objects and arrays of a parsed JSON value are nested deeper than `limit`. Not recursive, and stops as soon
 * as the answer is known.
 */
export function isDeeperThan(value: unknown, limit: number): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limit) return true;
    const next: object[] = [];
    for (const container of level)
      for (const child of Array.isArray(container) ? container : Object.values(container))
        if (isContainer(child)) next.push(child);
    level = next;
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Deeply freezes parsed JSON and returns it. */
export function deepFreeze<T>(value: T): T {
  if (isContainer(value)) {
    Object.freeze(value);
    for (const child of Object.values(value)) deepFreeze(child);
  }
  return value;
}

/** Tells whether a value is frozen throughout and exactly what {@link toJsonValue} would make of it. */
export function isFrozenJson(value: unknown, levels: number = MAX_JSON_DEPTH): boolean {
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (!isContainer(value))
    return value === null || typeof value === "string" || typeof value === "boolean";
  if (levels <= 0 || !Object.isFrozen(value)) return false;
  if ((value as { readonly toJSON?: unknown }).toJSON !== undefined) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== (Array.isArray(value) ? Array.prototype : Object.prototype)) return false;
  // Not `every`, which would skip the holes of a sparse array.
  for (const child of Array.isArray(value) ? value : Object.values(value))
    if (!isFrozenJson(child, levels - 1)) return false;
  return true;
}

const loneSurrogate = /\p{Surrogate}/u;

/** Tells whether UTF-8 can hold `text` without loss, that is, without a lone surrogate in it. */
export function isWellFormed(text: string): boolean {
  return !loneSurrogate.test(text);
}

/** Returns a value as JSON whose keys are sorted: equal for equal values, in whatever order their fields are. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    isRecord(item) ? Object.fromEntries(Object.entries(item).sort(byKey)) : item,
  );
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
