import { HoldfastError, StoreUnavailableError, UnknownOutcomeError } from "@holdfast/core";
import { sleep, withDeadline } from "@holdfast/core/store-kit";
import { classifyError, type Failure } from "./classify-error.js";
import type { Openable } from "./line.js";
import { type LineKeeper, pauseAfter } from "./line-keeper.js";

/** One thing to do on a line. */
export interface Errand<L, T> {
  /** For errors: what is attempted. */
  readonly what: string;
  readonly writes: boolean;
  readonly deadlineMs: number;
  /** Whether a line that has not answered by the deadline is given up, so that nothing piles up behind it. */
  readonly dropLate?: boolean | undefined;
  /** Repeated on a new line when the last one was lost. */
  exchange(line: L, remainingMs: () => number): Promise<T>;
}

/**
 * Runs an errand within its deadline, again and again while that may help. On an open line the first exchange begins
 * before this function returns.
 *
 * @throws UnknownOutcomeError when it writes and any attempt may have reached the server
 * @throws StoreUnavailableError otherwise; a `HoldfastError` of the exchange is passed on
 */
export async function runWithin<L extends Openable, T>(
  keeper: LineKeeper<L>,
  errand: Errand<L, T>,
): Promise<T> {
  const end = performance.now() + errand.deadlineMs;
  let isOver = false;
  // Made when first needed: creating and aborting one costs more than a command.
  let pause: AbortController | undefined;
  let mayHaveApplied = false;
  let busy: L | undefined;
  let last: Failure | undefined;

  async function once(): Promise<T> {
    return keeper.use((line) => {
      if (isOver) throw new Error("too late");
      busy = line;
      return errand.exchange(line, () => end - performance.now());
    });
  }

  async function repeat(): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await once();
      } catch (error) {
        const line = busy;
        busy = undefined;
        if (HoldfastError.is(error)) throw error;
        const failure = classifyError(error, line !== undefined);
        // Noted before the pause, which the deadline may end.
        mayHaveApplied ||= failure.mayHaveApplied;
        last = keeper.isClosed ? closed : failure;
        if (!last.retry || isOver) throw failed(errand, last, mayHaveApplied);
        if (failure.drop) line?.drop();
        if (line === undefined) continue; // Between attempts to open a line its keeper pauses.
        pause ??= new AbortController();
        await sleep(pauseAfter(attempt), pause.signal);
      }
    }
  }

  try {
    return await withDeadline(repeat, errand.deadlineMs, () => {
      if (errand.dropLate) busy?.drop();
      const failure = busy === undefined && last !== undefined ? last : noAnswer;
      return failed(errand, failure, mayHaveApplied || busy !== undefined);
    });
  } finally {
    isOver = true;
    pause?.abort();
  }
}

const noAnswer: Failure = {
  reason: "Redis did not answer in time",
  advice: "check that the server runs and can be reached",
  mayHaveApplied: false,
  retry: true,
  drop: false,
};

const closed: Failure = {
  ...noAnswer,
  reason: "the connection was closed, or the client it was made from has ended",
  advice: "make a new store from a client that is in use",
  retry: false,
};

function failed(
  errand: Pick<Errand<never, unknown>, "what" | "writes">,
  failure: Failure,
  mayHaveApplied: boolean,
): Error {
  const { what, writes } = errand;
  const { reason, advice } = failure;
  return writes && mayHaveApplied
    ? new UnknownOutcomeError(
        `${what} may or may not have been applied: ${reason}; ${advice}, then repeat it to find out`,
      )
    : new StoreUnavailableError(`${what} failed: ${reason}; ${advice}`);
}
