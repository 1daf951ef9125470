import { type ExitCode, exitCodes } from "../exit-code.js";

/** Stops work that is asked to stop: by Ctrl-C, by SIGTERM, or because terminal or reader went away. */
export interface Stop {
  readonly signal: AbortSignal;
  /** The exit code of whoever was stopped by what came. */
  readonly exitCode: ExitCode;
  /** From now on the signals do what they always do. */
  end(): void;
}

/** SIGHUP also tells that nobody reads what is written any more: whoever listens to it is not ended in the middle. */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * The first signal stops between two sessions, the second one at once.
 *
 * @param onStop - to say so
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
