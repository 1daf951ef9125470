/** Parts of a schema's definition that lead to the schemas it is made of, in zod's words and in those of our own. */
export interface SchemaParts {
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly element?: unknown;
  readonly valueType?: unknown;
  readonly options?: readonly unknown[];
  readonly innerType?: unknown;
  readonly in?: unknown;
  readonly out?: unknown;
}

/** Returns the keys of the object that a schema has at a path; none where it has no object there. */
export function optionNames(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  const parts = partsOf(schema);
  const [key, ...rest] = path;
  if (parts.shape) {
    if (key === undefined) return Object.keys(parts.shape);
    const inner = parts.shape[String(key)];
    return inner ? optionNames(inner, rest) : [];
  }
  const items = parts.element ?? parts.valueType;
  if (items) return key === undefined ? [] : optionNames(items, rest);
  if (parts.options)
    return [...new Set(parts.options.flatMap((option) => optionNames(option, path)))];
  const inner = [parts.innerType, parts.in, parts.out].filter((part) => part !== undefined);
  return inner.map((part) => optionNames(part, path)).find((names) => names.length > 0) ?? [];
}

function partsOf(schema: unknown): SchemaParts {
  return (schema as { readonly def?: SchemaParts }).def ?? {};
}
