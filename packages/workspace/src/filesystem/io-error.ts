import { HoldfastError, StoreUnavailableError } from "@holdfast/core";

const meanings: { readonly [code: string]: string } = {
  EACCES: "permission denied",
  EPERM: "not permitted",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EMFILE: "this process has too many files open",
  ENFILE: "the system has too many files open",
  EIO: "the device reported an I/O error",
  ENOENT: "a file or directory disappeared",
  ENOTDIR: "a file stands where a directory belongs",
  EEXIST: "a file stands where a directory belongs",
  EAGAIN: "the system has no more room for processes",
};

/** The code of a system error, or undefined for anything else. */
export function ioCode(error: unknown): string | undefined {
  if (HoldfastError.is(error) || !(error instanceof Error) || !("syscall" in error))
    return undefined;
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Whether the error is a system error with one of these codes. */
export function hasIoCode(error: unknown, ...codes: readonly string[]): boolean {
  const code = ioCode(error);
  return code !== undefined && codes.includes(code);
}

/** What a system error means, without the path that Node puts in its message. */
export function ioReason(error: unknown): string {
  const code = ioCode(error) ?? "unknown error";
  const meaning = meanings[code];
  return meaning === undefined ? code : `${code}, ${meaning}`;
}

/** The error for an operation that changed nothing; errors of ours and bugs pass through. */
export function unavailable(attempt: string, error: unknown): unknown {
  if (ioCode(error) === undefined) return error;
  return new StoreUnavailableError(
    `cannot ${attempt} (${ioReason(error)}); nothing was changed: see to the workspace directory and try again`,
    { cause: error },
  );
}
