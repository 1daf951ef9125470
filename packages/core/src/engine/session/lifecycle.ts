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

/** Starts one agent, counts its calls in flight, and stops them in order. */
export class Lifecycle {
  readonly #name: string;
  readonly #onStart: readonly (() => Promise<void>)[];
  #startsRun = 0;
  #started: Promise<void> | undefined;
  readonly #active = new Map<object, ActiveCall>();
  #state: LifecycleState = "running";
  #idle: (() => void)[] = [];

  /** @param onStart - what plugins do before the first call, in order */
  constructor(name: string, onStart: readonly (() => Promise<void>)[]) {
    this.#name = name;
    this.#onStart = onStart;
  }

  /** Runs every `onStart` once; after a failure the next call goes on with the one that failed. */
  start(): Promise<void> {
    this.#started ??= this.#start().catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  async #start(): Promise<void> {
    for (; this.#startsRun < this.#onStart.length; this.#startsRun++)
      await this.#onStart[this.#startsRun]?.();
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
