import { ShuttingDownError } from "../../errors/errors.js";

/** Where an agent is in its life. */
export type LifecycleState = "running" | "draining" | "closed";

/** A call as shutdown sees it. */
export interface ActiveCall {
  readonly callId: string;
  /** Stop at the next safe point, or leave the queue. */
  drain(): void;
  /** Stop now. */
  cut(): void;
}

/** Counts the calls in flight of one agent and stops them in order. */
export class Lifecycle {
  readonly #name: string;
  readonly #active = new Map<object, ActiveCall>();
  #state: LifecycleState = "running";
  #idle: (() => void)[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  get state(): LifecycleState {
    return this.#state;
  }

  get active(): readonly ActiveCall[] {
    return [...this.#active.values()];
  }

  /** @throws ShuttingDownError unless running */
  enter(call: ActiveCall): () => void {
    if (this.#state !== "running")
      throw new ShuttingDownError(
        `agent "${this.#name}" is ${this.#state} and takes no new calls; send them to another process`,
      );
    const key = {};
    this.#active.set(key, call);
    return () => {
      this.#active.delete(key);
      if (this.#active.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    };
  }

  /** From now on no call may enter. */
  drain(): void {
    if (this.#state === "running") this.#state = "draining";
  }

  close(): void {
    this.#state = "closed";
  }

  /** Resolves when no call is in flight. */
  idle(): Promise<void> {
    if (this.#active.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }
}
