/** One reason why a value does not fit a schema, in the words that zod has for it. */
export interface SchemaIssue {
  /** `custom` for a check of the schema's author. */
  readonly code:
    | "invalid_type"
    | "invalid_value"
    | "invalid_format"
    | "invalid_key"
    | "invalid_union"
    | "too_small"
    | "too_big"
    | "unrecognized_keys"
    | "custom";
  /** Keys that lead from the value to the part that does not fit. */
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Part that does not fit. It may be a secret: do not show it unseen. */
  readonly input?: unknown;
  /** Keys that the schema does not have, of `unrecognized_keys`. */
  readonly keys?: readonly string[];
}

/** Issue while a value is being read: the objects and lists around the value put their keys in front of its path. */
export interface FoundIssue extends SchemaIssue {
  readonly path: PropertyKey[];
  /** The value is not of its type, so that further checks cannot look at it. */
  isFatal: boolean;
}

/** Adds the issue that a value is not of a type. */
export function addWrongType(
  issues: FoundIssue[],
  expected: string,
  input: unknown,
  message = `Invalid input: expected ${expected}, received ${typeName(input)}`,
): undefined {
  issues.push({ code: "invalid_type", path: [], message, input, isFatal: true });
}

/** Adds the issue of a check; further checks go on. */
export function addFailedCheck(
  issues: FoundIssue[],
  code: SchemaIssue["code"],
  message: string,
  input: unknown,
  path: readonly PropertyKey[] = [],
): void {
  issues.push({ code, path: [...path], message, input, isFatal: false });
}

/** Puts a key in front of the paths of the issues from an index on. */
export function prefixPaths(issues: readonly FoundIssue[], from: number, key: PropertyKey): void {
  for (let index = from; index < issues.length; index++) issues[index]?.path.unshift(key);
}

/** Tells whether an issue from an index on is fatal. */
export function isBroken(issues: readonly FoundIssue[], from: number): boolean {
  for (let index = from; index < issues.length; index++) if (issues[index]?.isFatal) return true;
  return false;
}

function typeName(value: unknown): string {
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (typeof value !== "object") return typeof value;
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const { constructor: Class } = value;
  return typeof Class === "function" && Class !== Object ? Class.name : "object";
}
