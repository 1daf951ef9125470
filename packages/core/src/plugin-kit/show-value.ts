import { isRecord } from "../json/json.js";

/** Returns a value as an error message shows it: short, and never the contents of an object. */
export function showValue(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > 64 ? `${value.slice(0, 64)}…` : value);
  if (typeof value === "object" && value !== null)
    return Array.isArray(value) ? "a list" : "an object";
  return typeof value === "function" ? "a function" : String(value);
}

/** Returns the kind of a value in words, for an error that must not say the value itself. */
export function showKind(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (value instanceof Promise) return "a Promise";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Says of a promise, a class or a function that it is one, and what to pass instead; null for any other value. */
export function strayValue(value: unknown): string | null {
  if (typeof value === "function") {
    const name = value.name || "it";
    return /^class\b/.test(Function.prototype.toString.call(value))
      ? `it is a class; pass an instance of it, new ${name}(…)`
      : `it is a function; pass what it returns, ${name}(…)`;
  }
  const isPromise = typeof value === "object" && value !== null && "then" in value;
  return isPromise ? "it is a promise; await it first" : null;
}

/** Says what {@link strayValue} says, and of a list that stands where one of its items should. */
export function strayItem(value: unknown): string | null {
  return Array.isArray(value)
    ? "it is a list of its own; spread it, as in use(...plugins)"
    : strayValue(value);
}

/** Says what a value is that should be an object of fields, such as a promise or a Map; null for such an object. */
export function unfitFields(value: unknown): string | null {
  const stray = strayValue(value);
  if (stray !== null) return stray;
  if (!isRecord(value)) return `got ${showValue(value)}`;
  // What the language and the platform make, such as a Map or a Request, has no keys of its own that could be unknown.
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  return kind === "Object" ? null : `got an object of type ${kind}`;
}
