/**
 * JSON with the keys of every object in one order: two stores that keep the same value give the same text, whichever order
 * they keep its fields in.
 */
export function canonicalText(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  const fields: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const field: unknown = Reflect.get(value, key);
    if (field !== undefined) fields.push(`${JSON.stringify(key)}:${canonicalText(field)}`);
  }
  return `{${fields.join()}}`;
}
