import { InvalidInputError } from "../errors/errors.js";
import { type JsonValue, MAX_JSON_DEPTH } from "./json.js";

/**
 * Returns `value` as JSON that a model can read: what JSON cannot hold is written out instead of lost. A `Map` becomes an
 * object, or a list of pairs when its keys are not all strings; a `Set` a list; an `Error` its name and message; a bigint, NaN
 * or Infinity its digits or name as text; a cycle, a function, a symbol, a promise, bytes, and an object whose contents JSON
 * does not see, a note in square brackets. Otherwise as `JSON.stringify` would write it.
 *
 * @throws InvalidInputError for values nested deeper than 256 levels
 */
export function readableJson(value: unknown): JsonValue {
  return read(value, MAX_JSON_DEPTH, new Set()) ?? null;
}

function read(value: unknown, levels: number, inside: Set<object>): JsonValue | undefined {
  switch (typeof value) {
    case "undefined":
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
      return String(value);
    case "symbol":
      return `[${String(value)}]`;
    case "function":
      return `[function${value.name === "" ? "" : ` ${value.name}`}]`;
    case "object":
      return value === null ? null : readObject(value, levels, inside);
  }
}

function readObject(value: object, levels: number, inside: Set<object>): JsonValue | undefined {
  if (inside.has(value)) return "[circular: the object that contains this]";
  if (levels <= 0) throw new InvalidInputError(`it is nested deeper than ${MAX_JSON_DEPTH} levels`);
  const note = noteOf(value);
  if (note !== null) return note;
  inside.add(value);
  const inner = (item: unknown): JsonValue | undefined => read(item, levels - 1, inside);
  const result = contents(value, inner);
  inside.delete(value);
  return result;
}

/** Returns words in place of an object that would come out empty or unreadable; null for others. */
function noteOf(value: object): string | null {
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value))
    return `[${nameOf(value)} of ${value.byteLength} bytes]`;
  if (value instanceof Promise) return "[Promise: it was not awaited]";
  if (value instanceof RegExp) return String(value);
  // Its toJSON is null.
  if (value instanceof Date && Number.isNaN(value.getTime())) return "[Invalid Date]";
  return null;
}

function contents(
  value: object,
  inner: (item: unknown) => JsonValue | undefined,
): JsonValue | undefined {
  if (Array.isArray(value)) return Array.from(value, (item) => inner(item) ?? null);
  if (value instanceof Set) return Array.from(value, (item) => inner(item) ?? null);
  if (value instanceof Map) {
    const entries = [...value];
    return entries.every(([key]) => typeof key === "string")
      ? record(entries, inner)
      : entries.map((pair) => pair.map((item) => inner(item) ?? null));
  }
  if ("toJSON" in value && typeof value.toJSON === "function") return inner(value.toJSON());
  if (value instanceof Error) {
    // Not its other fields: those of an HTTP client hold headers and keys.
    const { name, message, cause } = value;
    return record(Object.entries({ name, message, cause }), inner);
  }
  const entries = Object.entries(value);
  return entries.length === 0 && !isPlain(value)
    ? `[${nameOf(value)}: an object without fields of its own that JSON could show]`
    : record(entries, inner);
}

function record(
  entries: readonly (readonly [string, unknown])[],
  inner: (item: unknown) => JsonValue | undefined,
): JsonValue {
  return Object.fromEntries(
    entries.flatMap(([key, item]) => {
      const kept = inner(item);
      return kept === undefined ? [] : [[key, kept]];
    }),
  );
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    prototype === null ||
    prototype === Object.prototype ||
    Object.getPrototypeOf(prototype) === null
  );
}

function nameOf(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name !== "" ? name : "object";
}
