import { HoldfastError, StoreUnavailableError } from "@holdfast/core";

const meanings: { readonly [code: string]: string } = {
  EACCES: "permission denied",
  EPERM: "not permitted",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EMFILE: "this process has too many open files",
  ENFILE: "the system has too many open files",
  EIO: "the device reported an I/O error",
  ENOENT: "a file or directory disappeared",
  ENOTDIR: "there is a file where a directory belongs",
  EEXIST: "there is a file where a directory belongs",
  EAGAIN: "the system cannot start more processes",
};

/** Returns the code of a system error; undefined for any other error. */
export function ioCode(error: unknown): string | undefined {
  if (HoldfastError.is(error) || !(error instanceof Error) || !("syscall" in error))
    return undefined;
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** Returns true for a system error with one of these codes. */
export function hasIoCode(error: unknown, ...codes: readonly string[]): boolean {
  const code = ioCode(error);
  return code !== undefined && codes.includes(code);
}

/** Explains a system error in words, without the path that Node puts in its message. */
export function ioReason(error: unknown): string {
  const code = ioCode(error) ?? "unknown error";
  const meaning = meanings[code];
  return meaning === undefined ? code : `${code}, ${meaning}`;
}

/** Makes a `StoreUnavailableError` of a system error; any other error is returned as it is. */
export function unavailable(attempt: string, error: unknown): unknown {
  if (ioCode(error) === undefined) return error;
  return new StoreUnavailableError(
    `cannot ${attempt} (${ioReason(error)}); nothing was changed: check the workspace directory and try again`,
    { cause: error },
  );
}
