import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";

const longest = 16_384;

/** What bubblewrap tells about the sandbox it made, one JSON document a line. */
export class BwrapStatus {
  readonly #waiting: (() => void)[] = [];
  #text = "";

  constructor(stream: Readable) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      this.#text = (this.#text + text).slice(0, longest);
      if (this.#number("child-pid") !== undefined)
        for (const call of this.#waiting.splice(0)) call();
    });
    // The pipe breaks when bubblewrap is killed; its exit says all there is to say.
    stream.on("error", () => {});
  }

  /** Whether the sandbox came to be and the command in it ended; otherwise bubblewrap itself failed or was killed. */
  get hasEnded(): boolean {
    return this.#number("exit-code") !== undefined;
  }

  /** Calls back when the sandbox has a first process, at once if it has one. */
  whenStarted(call: () => void): void {
    if (this.#number("child-pid") === undefined) this.#waiting.push(call);
    else call();
  }

  /** The sandbox's first process, as this machine counts, while it runs as a child of `bwrap`. */
  firstProcess(bwrap: number): number | undefined {
    const pid = this.#number("child-pid");
    if (pid === undefined || this.hasEnded) return undefined;
    // A number may be given to somebody else as soon as bubblewrap has waited for its child.
    return parentOf(pid) === bwrap ? pid : undefined;
  }

  #number(name: string): number | undefined {
    const found = new RegExp(`"${name}": *(\\d+)`).exec(this.#text)?.[1];
    return found === undefined ? undefined : Number(found);
  }
}

/** The 4th field of a process's status; the 2nd is its name in brackets, which may hold anything. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}
