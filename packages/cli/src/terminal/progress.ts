import { Presets, SingleBar } from "cli-progress";
import { safeLine } from "./safe-text.js";
import type { Terminal } from "./terminal.js";

/** Options of {@link progress}. */
export interface ProgressOptions {
  readonly total: number;
  readonly label: string;
}

/** Progress display on stderr. */
export interface Progress {
  /** @param done - finished items @param note - current activity, on one line */
  update(done: number, note?: string): void;
  /** Ends the display; idempotent. */
  stop(): void;
}

/** Minimum time between two lines outside of a terminal. */
const LINE_EVERY_MS = 5_000;

/** Shows a bar in a terminal, a plain line every few seconds elsewhere, nothing with `--json`. */
export function progress(terminal: Terminal, options: ProgressOptions): Progress {
  if (terminal.isJson) return { update() {}, stop() {} };
  return terminal.isInteractive ? bar(terminal, options) : lines(terminal, options);
}

function bar(terminal: Terminal, { total, label }: ProgressOptions): Progress {
  const display = new SingleBar(
    {
      stream: terminal.err,
      format: `${safeLine(label)} {bar} {value}/{total} {eta_formatted} {note}`,
      hideCursor: true,
      clearOnComplete: true,
      // The bar cuts the line to the width itself.
      linewrap: false,
      gracefulExit: false,
    },
    Presets.shades_classic,
  );
  display.start(total, 0, { note: "" });
  let isStopped = false;
  return {
    update(done, note = "") {
      if (!isStopped) display.update(done, { note: safeLine(note) });
    },
    stop() {
      if (isStopped) return;
      isStopped = true;
      display.stop();
    },
  };
}

function lines(terminal: Terminal, { total, label }: ProgressOptions): Progress {
  let shownAt = Date.now();
  return {
    update(done, note) {
      if (Date.now() - shownAt < LINE_EVERY_MS) return;
      shownAt = Date.now();
      terminal.warn(`${label} ${done}/${total}${note ? ` ${safeLine(note)}` : ""}`);
    },
    stop() {},
  };
}
