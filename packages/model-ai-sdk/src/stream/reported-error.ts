/** An error the provider reported in mid-reply. */
export class ReportedError extends Error {
  override readonly name = "ReportedError";

  constructor(cause: unknown) {
    super("the provider reported an error in the reply", { cause });
  }
}
