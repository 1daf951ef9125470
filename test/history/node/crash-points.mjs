// Instants at which a node can be told to kill or stop itself, as `kill -9` and `kill -STOP` from outside would do.

export class CrashPoints {
  /** @type {{ point: import("../node-process.js").CrashPoint, signal: "SIGKILL" | "SIGSTOP", delayMs: number } | null} */
  #armed = null;
  #trace;

  /** @param {import("./trace-file.mjs").TraceFile} trace */
  constructor(trace) {
    this.#trace = trace;
  }

  /** The next time the node comes to this point, it signals itself, at once or some time after. */
  arm(point, signal, delayMs = 0) {
    this.#armed = { point, signal, delayMs };
  }

  disarm() {
    this.#armed = null;
  }

  /** @param {import("../node-process.js").CrashPoint} point */
  reach(point) {
    if (this.#armed?.point !== point) return;
    const { signal, delayMs } = this.#armed;
    this.#armed = null;
    const end = () => {
      this.#trace.add({ e: "signal", point, signal });
      process.kill(process.pid, signal);
    };
    if (delayMs === 0) end();
    else setTimeout(end, delayMs);
  }
}
