import { InvalidInputError } from "@holdfast/core";
import type { IndexEntry } from "./session-index.js";

/** Where a listing goes on: behind this entry. */
export function writeCursor({ score, member }: IndexEntry): string {
  return Buffer.from(JSON.stringify([score, member]), "utf8").toString("base64url");
}

/**
 * The inverse of {@link writeCursor}.
 *
 * @throws InvalidInputError
 */
export function readCursor(cursor: string): IndexEntry {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (Array.isArray(value) && value.length === 2) {
      const [score, member]: unknown[] = value;
      if (typeof score === "number" && typeof member === "string") return { score, member };
    }
  } catch {
    // Falls through to the one error for every cursor that is none.
  }
  throw new InvalidInputError("the cursor is not one of this store's listings");
}
