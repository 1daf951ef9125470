import { EventEmitter, once } from "node:events";
import type { Fleet } from "./fleet.js";

/** Replaces processes one after the other, under load, spread evenly over the calls of a run. */
export class Deployment {
  readonly #fleet: Fleet;
  readonly #replacements: number;
  readonly #total: number;
  /** Calls between two replacements. */
  readonly #share: number;
  readonly #note: (text: string) => void;
  readonly #happened = new EventEmitter<{ answer: []; up: [] }>().setMaxListeners(0);
  #begun = 0;
  /** New processes that took up work. */
  #up = 0;
  #calls = 0;
  #answers = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(fleet: Fleet, replacements: number, calls: number, note: (text: string) => void) {
    this.#fleet = fleet;
    this.#replacements = replacements;
    this.#total = calls;
    this.#share = calls / (replacements + 1);
    this.#note = note;
  }

  /** Waits where calls would run away from a process that takes its time to start: its predecessor is to go under load. */
  async mayCall(): Promise<void> {
    while (this.#up < this.#replacements && this.#calls >= this.#share * (this.#up + 2))
      await once(this.#happened, "up");
    this.#calls++;
  }

  /** Counts an answer; every so many, the oldest process is replaced. */
  answered(): void {
    this.#answers++;
    this.#happened.emit("answer");
    if (this.#begun >= this.#replacements || this.#answers < this.#share * (this.#begun + 1))
      return;
    this.#begun++;
    this.#last = this.#last.then(() => this.#replace());
  }

  /** Returns the number of processes that were replaced, once all were. */
  async finished(): Promise<number> {
    await this.#last;
    return this.#begun;
  }

  async #replace(): Promise<void> {
    const fresh = await this.#fleet.add();
    this.#up++;
    this.#happened.emit("up");
    if (this.#answers < this.#total) await once(this.#happened, "answer");
    const old = await this.#fleet.removeOldest();
    this.#note(`process ${old.pid} got SIGTERM and left, ${fresh.pid} took its place`);
  }
}
