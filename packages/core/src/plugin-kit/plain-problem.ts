/** Kinds of values by the names that schemas have for them, where words are plainer. */
const kinds: Readonly<Record<string, string>> = {
  int: "an integer",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** Returns the problem that a schema has with an option in plain words: what it must be, not what code calls it. */
export function plainProblem(message: string): string {
  const type = /^Invalid input: expected (\w+), received /.exec(message)?.[1];
  return type === undefined ? message : `must be ${kinds[type] ?? `a ${type}`}`;
}
