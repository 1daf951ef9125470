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

/** What a check of a request refuses it with, if it does. */
export function refusalOf(check: () => void): WireFailure | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.failure;
    throw error;
  }
}
