import { HoldfastError, hasErrorCode } from "./holdfast-error.js";

/** A hook of a middleware broke its contract: it called `next` twice, or returned something of the wrong type. */
export class MiddlewareError extends HoldfastError {
  override readonly name = "MiddlewareError";
  /** Name of the middleware. */
  readonly middleware: string;
  /** Name of the hook, for example `onToolCall`. */
  readonly hook: string;

  constructor(
    message: string,
    { middleware, hook }: { readonly middleware: string; readonly hook: string },
    options?: ErrorOptions,
  ) {
    super("MIDDLEWARE", message, options);
    this.middleware = middleware;
    this.hook = hook;
  }

  static override is(value: unknown): value is MiddlewareError {
    return hasErrorCode(value, "MIDDLEWARE");
  }
}
