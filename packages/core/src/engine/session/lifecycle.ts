import { ShuttingDownError } from "../../errors/errors.js";
import { orAborted } from "./stop-switch.js";

/** State of an agent between its creation and its close. */
export type LifecycleState = "running" | "draining" | "closed";

/** A call as shutdown sees it. */
export interface ActiveCall {
  readonly callId: string;
  /** True once it holds its session. */
  readonly isRunning: boolean;
  /** Stop at the next safe point, or leave the queue. */
  drain(): void;
  /** Stop now. */
  cut(): void;
  /** End for its caller, whatever it still waits for: it was cut and did not end. */
  abandon(): void;
  /** Tells whether the call, which is being stopped, has this message and will save it. */
  hasHeard?(messageId: string): boolean;
}

/** Starts one agent, counts its calls in flight, and stops them in order. */
export class Lifecycle {
  readonly #name: string;
  readonly #onStart: readonly (() => Promise<void>)[];
  #startsRun = 0;
  #started: Promise<void> | undefined;
  #startState: Lifecycle["startState"] = "not_started";
  #startFailure: unknown;
  readonly #active = new Map<object, ActiveCall>();
  #state: LifecycleState = "running";
  #idle: (() => void)[] = [];
  /** Time on the clock of `performance.now()` at which everything has to be over. */
  #endsAt = Number.POSITIVE_INFINITY;

  /** @param onStart - what plugins do before the first call, in order */
  constructor(name: string, onStart: readonly (() => Promise<void>)[]) {
    this.#name = name;
    this.#onStart = onStart;
  }

  /** Runs every `onStart` once; after a failure the next call goes on with the one that failed. */
  start(): Promise<void> {
    this.#started ??= this.#start().then(
      () => {
        this.#startState = "started";
      },
      (error: unknown) => {
        this.#started = undefined;
        this.#startState = "failed";
        this.#startFailure = error;
        throw error;
      },
    );
    return this.#started;
  }

  /** Waits for {@link start}, until `signal` aborts; there is nothing to wait for once it was done. */
  ready(signal: AbortSignal): Promise<void> | undefined {
    return this.#startState === "started" ? undefined : orAborted(this.start(), signal);
  }

  /** Progress of the start of the plugins. */
  get startState(): "not_started" | "starting" | "started" | "failed" {
    return this.#startState;
  }

  /** Error of the last start that failed. */
  get startFailure(): unknown {
    return this.#startFailure;
  }

  async #start(): Promise<void> {
    this.#startState = "starting";
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

  /** From now on no call may enter, and all has to be over at `endsAt`, unless it had to be earlier. */
  drain(endsAt: number): void {
    if (this.#state === "running") this.#state = "draining";
    this.#endsAt = Math.min(this.#endsAt, endsAt);
  }

  /** Milliseconds until everything has to be over; infinite while the agent runs. */
  leftMs(): number {
    return Math.max(this.#endsAt - performance.now(), 0);
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
