import { HoldfastError, StoreUnavailableError, UnknownOutcomeError } from "@holdfast/core";

const meanings: { readonly [code: string]: string } = {
  EACCES: "permission denied",
  EPERM: "not permitted",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EMFILE: "this process has too many files open",
  ENFILE: "the system has too many files open",
  EIO: "the device reported an I/O error",
  ENOTDIR: "a file stands where a directory belongs",
  EISDIR: "a directory stands where a file belongs",
  ENAMETOOLONG: "the path is too long",
  ENOENT: "a file disappeared",
  EXDEV: "the directory spans two file systems",
};

/** Returns the code of a system error; undefined for other errors. */
export function ioCode(error: unknown): string | undefined {
  if (HoldfastError.is(error) || !(error instanceof Error) || !("syscall" in error))
    return undefined;
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Tells whether an error says that a file does not exist. */
export function isMissing(error: unknown): boolean {
  return ioCode(error) === "ENOENT";
}

/** Describes a system error without the path that Node puts in its message. */
export function ioReason(error: unknown): string {
  const code = ioCode(error) ?? "unknown error";
  const meaning = meanings[code];
  return meaning === undefined ? code : `${code}, ${meaning}`;
}

/** Returns the error for a command that changed nothing; errors that are not the system's pass through. */
export function unavailable(attempt: string, error: unknown): unknown {
  if (ioCode(error) === undefined) return error;
  return new StoreUnavailableError(
    `cannot ${attempt} (${ioReason(error)}); nothing was changed: check the disk and try again`,
    { cause: error },
  );
}

/** Returns the error for a command that may or may not have been applied. */
export function unknownOutcome(attempt: string, error: unknown): UnknownOutcomeError {
  const reason = ioCode(error) === undefined ? String(error) : ioReason(error);
  return new UnknownOutcomeError(
    `outcome unknown: ${attempt} (${reason}); it may or may not be stored: repeat it to find out`,
    { cause: error },
  );
}
