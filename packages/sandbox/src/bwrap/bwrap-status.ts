import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";

const MAX_CHARS = 16_384;

/** Status that bubblewrap reports about its sandbox, one JSON document per line. */
export class BwrapStatus {
  readonly #waiting: (() => void)[] = [];
  #text = "";

  constructor(stream: Readable) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      this.#text = (this.#text + text).slice(0, MAX_CHARS);
      if (this.#number("child-pid") !== undefined)
        for (const call of this.#waiting.splice(0)) call();
    });
    // The pipe breaks when bubblewrap is killed, which its exit reports.
    stream.on("error", () => {});
  }

  /** True when the sandbox was created and the command in it has ended; otherwise bubblewrap itself failed or was killed. */
  get hasEnded(): boolean {
    return this.#number("exit-code") !== undefined;
  }

  /** Calls back when the sandbox has a first process; immediately if it has one. */
  whenStarted(call: () => void): void {
    if (this.#number("child-pid") === undefined) this.#waiting.push(call);
    else call();
  }

  /** Returns the pid of the sandbox's first process on this machine while it runs as a child of `bwrap`. */
  firstProcess(bwrap: number): number | undefined {
    const pid = this.#number("child-pid");
    if (pid === undefined || this.hasEnded) return undefined;
    // A pid may be reused as soon as bubblewrap has waited for its child.
    return parentOf(pid) === bwrap ? pid : undefined;
  }

  #number(name: string): number | undefined {
    const found = new RegExp(`"${name}": *(\\d+)`).exec(this.#text)?.[1];
    return found === undefined ? undefined : Number(found);
  }
}

/** Reads field 4 of `/proc/<pid>/stat`; field 2, the name in parentheses, may contain anything. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}
