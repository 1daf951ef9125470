import { randomBytes } from "node:crypto";

const TEMPORARY = /^\.holdfast-tmp-[0-9a-f]{24}$/;

/** Age at which a temporary file is taken to be left behind by a dead process: writing one takes seconds. */
export const STALE_AFTER_MS = 3_600_000;

/** Makes the name under which a file is written before it replaces another. */
export function temporaryName(): string {
  return `.holdfast-tmp-${randomBytes(12).toString("hex")}`;
}

/** Returns true for a name that is reserved for temporary files. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY.test(name);
}
