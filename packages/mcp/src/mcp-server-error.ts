import { HoldfastError } from "@holdfast/core";

/** A server with `required: true` could not be reached when the agent started. */
export class McpServerError extends HoldfastError {
  override readonly name = "McpServerError";
  /** The server's name in the options. */
  readonly server: string;

  constructor(server: string, message: string, options?: ErrorOptions) {
    super("SERVICE_UNAVAILABLE", message, options);
    this.server = server;
  }

  static override is(value: unknown): value is McpServerError {
    return HoldfastError.is(value) && value.name === "McpServerError";
  }
}
