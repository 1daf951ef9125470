import { type ExitCode, exitCodes } from "../exit-code.js";

/** Request to stop: Ctrl-C, SIGTERM, or a closed terminal or pipe. */
export interface Stop {
  readonly signal: AbortSignal;
  /** Exit code for the signal that arrived. */
  readonly exitCode: ExitCode;
  /** Restores the default behaviour of the signals. */
  end(): void;
}

/** SIGHUP is also sent when the reader of the output has closed the pipe. */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Stops between two sessions on the first signal, at once on the second.
 *
 * @param onStop - called on the first signal
 */
export function stopOnSignal(onStop: () => void): Stop {
  const controller = new AbortController();
  const end = (): void => {
    for (const name of signals) process.off(name, stop);
  };
  let exitCode: ExitCode = exitCodes.interrupted;
  const stop = (name: NodeJS.Signals): void => {
    if (name !== "SIGINT") exitCode = exitCodes.terminated;
    end();
    controller.abort();
    onStop();
  };
  for (const name of signals) process.on(name, stop);
  return {
    signal: controller.signal,
    get exitCode() {
      return exitCode;
    },
    end,
  };
}
