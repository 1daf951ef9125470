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

/** The code of a system error, or undefined for anything else. */
export function ioCode(error: unknown): string | undefined {
  if (HoldfastError.is(error) || !(error instanceof Error) || !("syscall" in error))
    return undefined;
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Whether the error says that there is no such file. */
export function isMissing(error: unknown): boolean {
  return ioCode(error) === "ENOENT";
}

/** What a system error means, without the path that Node puts in its message. */
export function ioReason(error: unknown): string {
  const code = ioCode(error) ?? "unknown error";
  const meaning = meanings[code];
  return meaning === undefined ? code : `${code}, ${meaning}`;
}

/** The error for a command that certainly changed nothing; errors of ours and bugs pass through. */
export function unavailable(attempt: string, error: unknown): unknown {
  if (ioCode(error) === undefined) return error;
  return new StoreUnavailableError(
    `cannot ${attempt} (${ioReason(error)}); nothing was changed: see to the disk and try again`,
    { cause: error },
  );
}

/** The error for a command that may have been applied all the same. */
export function unknownOutcome(attempt: string, error: unknown): UnknownOutcomeError {
  const reason = ioCode(error) === undefined ? String(error) : ioReason(error);
  return new UnknownOutcomeError(
    `could not make sure of it: ${attempt} (${reason}); it may or may not be stored: repeat it with the same op`,
    { cause: error },
  );
}
