import type { WireFailure } from "./wire-reply.js";

/** Thrown by a check of a request: the provider's answer to it. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly failure: WireFailure;

  constructor(failure: WireFailure) {
    super(`refused with ${failure.status}`);
    this.failure = failure;
  }
}

/** Runs a check of a request and returns the failure it refused it with, if it did. */
export function refusalOf(check: () => void): WireFailure | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.failure;
    throw error;
  }
}
