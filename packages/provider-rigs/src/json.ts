/** A parsed JSON object of unknown shape. */
export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value when it is a list of objects, else nothing. */
export function objects(value: unknown): readonly Json[] | undefined {
  return Array.isArray(value) && value.every(isObject) ? value : undefined;
}
