import { randomBytes } from "node:crypto";

const TEMPORARY = /^\.holdfast-tmp-[0-9a-f]{24}$/;

/** A temporary file that old was left by a process that died: writing one takes seconds at most. */
export const STALE_AFTER_MS = 3_600_000;

/** A name under which a file is written before it takes the place of another. */
export function temporaryName(): string {
  return `.holdfast-tmp-${randomBytes(12).toString("hex")}`;
}

/** Whether a name may be that of a temporary file; nobody else may use such names. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY.test(name);
}
