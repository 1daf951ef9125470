import { StateCorruptError } from "@holdfast/core";

/** Bytes in JSON: as text where that is shorter, otherwise as base64. */
export type ContentValue = { readonly text: string } | { readonly base64: string };

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Encodes bytes for JSON; the result is hardly longer than four thirds of them. */
export function toContentValue(bytes: Uint8Array): ContentValue {
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  try {
    const text = decoder.decode(bytes);
    // Control characters take six bytes each in JSON.
    if (Buffer.byteLength(JSON.stringify(text), "utf8") <= base64.length + 2) return { text };
  } catch {
    // Not UTF-8.
  }
  return { base64 };
}

/**
 * Decodes a {@link ContentValue}.
 *
 * @param what - what it is part of, for the error
 * @throws StateCorruptError when it is malformed or has another number of bytes
 */
export function fromContentValue(value: unknown, bytes: number, what: string): Uint8Array {
  const found = decode(value);
  if (found?.length !== bytes)
    throw new StateCorruptError(
      `${what} is not what was written; restore the file, or delete it and write it again`,
    );
  return found;
}

function decode(value: unknown): Uint8Array | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if ("text" in value && typeof value.text === "string") return Buffer.from(value.text, "utf8");
  if ("base64" in value && typeof value.base64 === "string")
    return Buffer.from(value.base64, "base64");
  return undefined;
}
