/** About how many characters a value has as JSON: what its texts and keys amount to, without making the JSON. */
export function roughSize(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += roughSize(item);
  else for (const [key, item] of Object.entries(value)) size += key.length + roughSize(item);
  return size;
}
