import type { JsonValue } from "@holdfast/core";

const loneSurrogates = /\p{Surrogate}/gu;

/** Replaces lone surrogates: providers refuse a request body that contains one. */
export function wellFormedText(text: string): string {
  return text.replace(loneSurrogates, "\uFFFD");
}

/** Makes all text in a JSON value well-formed. */
export function wellFormedJson(value: JsonValue): JsonValue {
  if (typeof value === "string") return wellFormedText(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(wellFormedJson);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [wellFormedText(key), wellFormedJson(item)]),
  );
}
