import type { LogPosition } from "@holdfast/core/store-kit";
import { z } from "zod";
import { CommandError, exitCodes } from "../exit-code.js";

/** Where a search over several owners' logs goes on. */
export interface SearchCursor {
  readonly owner: string;
  readonly before?: LogPosition | undefined;
}

const cursorSchema: z.ZodType<SearchCursor> = z.strictObject({
  owner: z.string(),
  before: z.strictObject({ sessionId: z.string(), seq: z.number() }).optional(),
});

/** As one word for a command line. */
export function encodeCursor(cursor: SearchCursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString("base64url");
}

/** @throws CommandError with exit code 2 */
export function decodeCursor(text: string): SearchCursor {
  try {
    return cursorSchema.parse(JSON.parse(Buffer.from(text, "base64url").toString("utf8")));
  } catch (error) {
    throw new CommandError(exitCodes.usage, "--cursor: not one that a search gave", {
      cause: error,
    });
  }
}
