/** Exit codes of the command. */
export const exitCodes = {
  ok: 0,
  /** Something failed after the project was written: the installation, or git. */
  failed: 1,
  /** An option is wrong; nothing was written. */
  usage: 2,
  /** The directory cannot be used; nothing was written. */
  directory: 3,
  /** Ctrl-C, or another signal to end. */
  interrupted: 130,
} as const;

/** One of {@link exitCodes}. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Reason why there is no project, in words for the person who asked for it. */
export class CreateError extends Error {
  override readonly name = "CreateError";
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
