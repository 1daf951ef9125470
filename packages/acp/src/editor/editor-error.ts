import { HoldfastError } from "@holdfast/core";

/** The editor refused a request, did not answer it in time, or has gone. */
export class EditorError extends HoldfastError {
  override readonly name = "EditorError";
  readonly reason: "refused" | "timeout" | "gone";

  constructor(reason: EditorError["reason"], message: string, options?: ErrorOptions) {
    super("SERVICE_UNAVAILABLE", message, options);
    this.reason = reason;
  }

  static override is(value: unknown): value is EditorError {
    return HoldfastError.is(value) && value.name === "EditorError";
  }
}
