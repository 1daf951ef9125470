import { createHash } from "node:crypto";

/** What tells one content from another. */
export function contentHash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}
