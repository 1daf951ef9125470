import { constants } from "node:os";
import { InvalidInputError } from "../errors/errors.js";
import { checkOptions } from "../plugin-kit/unknown-names.js";
import { timeoutOption } from "./method-options.js";

/** The part of an agent that {@link installSignalHandlers} uses. */
export interface Stoppable {
  shutdown(options?: { readonly timeoutMs?: number | undefined }): Promise<unknown>;
}

/** Options of {@link installSignalHandlers}. */
export interface SignalHandlerOptions {
  /** Names of the signals. @default ["SIGTERM", "SIGINT"] */
  readonly signals?: readonly `SIG${string}`[] | undefined;
  /** Time that running calls get to end, before they are cut and saved. @default 20_000 */
  readonly timeoutMs?: number | undefined;
}

/**
 * Shuts the agent down gracefully when the process is told to end, then lets the signal do its work. A second signal ends
 * the process at once.
 *
 * @returns a function that takes the handlers away again
 * @throws InvalidInputError for wrong options: at a signal it would be too late to say so
 */
export function installSignalHandlers(
  agent: Stoppable,
  options: SignalHandlerOptions = {},
): () => void {
  const { signals, timeoutMs } = checked(options);
  let stopping = false;
  const remove = () => {
    for (const signal of signals) process.removeListener(signal, handle);
  };
  function handle(signal: NodeJS.Signals): void {
    if (stopping) {
      remove();
      process.kill(process.pid, signal);
      return;
    }
    stopping = true;
    void agent
      .shutdown({ timeoutMs })
      .catch(() => undefined)
      .then(() => {
        remove();
        // With a listener of the program's own left, ending the process is its business.
        if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
      });
  }
  for (const signal of signals) process.on(signal, handle);
  return remove;
}

/** @throws InvalidInputError */
function checked(options: SignalHandlerOptions): {
  readonly signals: readonly NodeJS.Signals[];
  readonly timeoutMs: number;
} {
  const method = "installSignalHandlers";
  const { signals = ["SIGTERM", "SIGINT"], ...rest } = checkOptions<SignalHandlerOptions>(
    options,
    ["signals", "timeoutMs"],
    method,
  );
  const isList =
    Array.isArray(signals) && signals.every((name) => Object.hasOwn(constants.signals, name));
  if (!isList)
    throw new InvalidInputError(
      `${method}: signals must be a list of names such as "SIGTERM", got ${JSON.stringify(signals)}`,
    );
  return {
    signals: signals as readonly NodeJS.Signals[],
    timeoutMs: timeoutOption(rest, 20_000, method),
  };
}
