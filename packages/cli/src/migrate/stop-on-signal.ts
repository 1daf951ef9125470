import { type ExitCode, exitCodes } from "../exit-code.js";

/** Stops work that is asked to stop by Ctrl-C or SIGTERM. */
export interface Stop {
  readonly signal: AbortSignal;
  /** The exit code of whoever was stopped by what came. */
  readonly exitCode: ExitCode;
  /** From now on the signals do what they always do. */
  end(): void;
}

/**
 * The first signal stops between two sessions, the second one at once.
 *
 * @param onStop - to say so
 */
export function stopOnSignal(onStop: () => void): Stop {
  const controller = new AbortController();
  const end = (): void => {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
  };
  let exitCode: ExitCode = exitCodes.interrupted;
  const stop = (name: NodeJS.Signals): void => {
    if (name === "SIGTERM") exitCode = exitCodes.terminated;
    end();
    controller.abort();
    onStop();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return {
    signal: controller.signal,
    get exitCode() {
      return exitCode;
    },
    end,
  };
}
