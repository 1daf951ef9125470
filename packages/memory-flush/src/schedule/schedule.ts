import { BoundedMap } from "@holdfast/core/plugin-kit";
import { longestTimerMs, sleep } from "@holdfast/core/store-kit";
import { plausibleTime } from "./due-time.js";

/** What a piece of work says when it is done. */
export interface Outcome {
  /** In milliseconds: before this it need not be asked for again. */
  readonly notBefore: number;
  /** Whether there is more to do then. */
  readonly again: boolean;
}

/** What a {@link Schedule} is made of. */
export interface ScheduleOptions<T> {
  /** Does the work; must not reject, and should end soon after its signal aborts. */
  run(item: T, how: { readonly forced: boolean; readonly signal: AbortSignal }): Promise<Outcome>;
  now(): number;
  /** Pieces of work at a time; others wait. */
  readonly maxRunning: number;
}

interface Job<T> {
  readonly key: string;
  item: T;
  state: "timed" | "queued" | "running";
  /** Whether it was asked for again while it ran. */
  owed: boolean;
  forced: boolean;
  timer?: ReturnType<typeof setTimeout> | undefined;
  readonly stop: AbortController;
  /** Resolves when nothing is left to do. */
  readonly done: Promise<void>;
  readonly end: () => void;
}

/** How many keys are remembered as "not before". */
const MAX_REMEMBERED = 10_000;
/** How many pieces of work may be under way, timers included; beyond, the oldest timer is dropped, or else what is next. */
const MAX_JOBS = 10_000;
/** How long work that was told to stop is waited for. */
const STOPPING_MS = 5_000;

/**
 * Work in the background, one piece at a time for each key: at once, or when its time has come.
 *
 * Timers do not keep the process alive. What is asked for while it runs is done once more afterwards.
 */
export class Schedule<T> {
  readonly #options: ScheduleOptions<T>;
  readonly #jobs = new Map<string, Job<T>>();
  /** Those that wait for their time, and those that are next, in the order in which they began to. */
  readonly #timed = new Set<Job<T>>();
  readonly #queued = new Set<Job<T>>();
  readonly #notBefore = new BoundedMap<string, { readonly at: number; readonly saidAt: number }>({
    maxEntries: MAX_REMEMBERED,
  });
  #running = 0;
  #isClosed = false;
  /** Whether what waits for its time is done before the end. */
  #isFinishing = false;

  constructor(options: ScheduleOptions<T>) {
    this.#options = options;
  }

  /** Whether {@link close} was called. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** How many pieces of work are under way, timers included. */
  get size(): number {
    return this.#jobs.size;
  }

  /** Asks for work; `force` does not wait for its time. */
  ask(key: string, item: T, force = false): void {
    if (this.#isClosed) return;
    const known = this.#jobs.get(key);
    const waitMs = force ? 0 : this.#waitMs(key);
    if (known === undefined) {
      const job = newJob(key, item, force);
      if (this.#jobs.size >= MAX_JOBS) this.#dropOldest();
      this.#jobs.set(key, job);
      if (waitMs > 0) this.#arm(job, waitMs);
      else this.#queue(job);
      return;
    }
    known.item = item;
    known.forced ||= force;
    if (known.state === "running") known.owed = true;
    else if (known.state === "timed" && waitMs <= 0) this.#queue(known);
  }

  /** Lets the work of a key be asked for at any time. */
  reset(key: string): void {
    this.#notBefore.delete(key);
  }

  /** Drops what waits, stops what runs and waits until it has. */
  async cancel(matches: (item: T) => boolean): Promise<void> {
    const ends: Promise<void>[] = [];
    for (const [key, job] of this.#jobs) {
      if (!matches(job.item)) continue;
      this.#notBefore.delete(key);
      job.owed = false;
      job.stop.abort(new DOMException("cancelled", "AbortError"));
      if (job.state === "running") ends.push(job.done);
      else this.#forget(job);
    }
    await within(STOPPING_MS, Promise.all(ends));
  }

  /**
   * Takes no more work, drops what waits for its time, waits for what runs or is next; after `timeoutMs` stops it.
   *
   * @param finish - do what waits for its time as well, now
   */
  async close(timeoutMs: number, finish: boolean): Promise<void> {
    this.#isClosed = true;
    this.#isFinishing = finish;
    for (const job of this.#jobs.values()) {
      if (job.state === "timed" && !finish) this.#forget(job);
      if (job.state === "running") continue;
      job.forced ||= finish;
      if (job.state === "timed" && finish) this.#queue(job);
    }
    await within(timeoutMs, Promise.all(Array.from(this.#jobs.values(), ({ done }) => done)));
    await this.cancel(() => true);
  }

  /** How long until its time has come. What a clock said that was ahead by far does not count. */
  #waitMs(key: string): number {
    const now = this.#options.now();
    const { at, saidAt } = this.#notBefore.get(key) ?? { at: 0, saidAt: 0 };
    return plausibleTime(saidAt, now) === saidAt ? at - now : 0;
  }

  #arm(job: Job<T>, waitMs: number): void {
    this.#enter(job, "timed");
    job.timer = setTimeout(() => this.#queue(job), Math.min(waitMs, longestTimerMs));
    job.timer.unref();
  }

  #queue(job: Job<T>): void {
    this.#enter(job, "queued");
    this.#startNext();
  }

  #startNext(): void {
    for (const job of this.#queued) {
      if (this.#running >= this.#options.maxRunning) return;
      this.#enter(job, "running");
      this.#running++;
      void this.#run(job);
    }
  }

  async #run(job: Job<T>): Promise<void> {
    const { forced } = job;
    job.forced = false;
    const saidAt = this.#options.now();
    const outcome = await this.#options
      .run(job.item, { forced, signal: job.stop.signal })
      .catch(() => ({ notBefore: 0, again: false }));
    this.#running--;
    // At the end there is no waiting: what was asked for meanwhile, or was too early, is done now.
    const isLeft = job.owed || (outcome.again && !forced);
    if (this.#isFinishing && isLeft) job.owed = job.forced = true;
    this.#settle(job, outcome, saidAt);
    this.#startNext();
  }

  #settle(job: Job<T>, { notBefore, again }: Outcome, saidAt: number): void {
    const { key, item, owed, forced } = job;
    job.owed = false;
    if (job.stop.signal.aborted) {
      this.#forget(job);
      // Asked for after it was cancelled: that is another piece of work.
      if (owed) this.ask(key, item, forced);
      return;
    }
    this.#notBefore.set(key, { at: notBefore, saidAt });
    const waitMs = this.#waitMs(key);
    // At the end there is time for what was asked for, not for what could go on for long.
    const isOwed = owed || (again && !this.#isClosed);
    const isDue = waitMs <= 0 || forced;
    if (!isOwed || (this.#isClosed && !isDue)) this.#forget(job);
    else if (isDue) this.#enter(job, "queued");
    else this.#arm(job, waitMs);
  }

  #enter(job: Job<T>, state: Job<T>["state"]): void {
    clearTimeout(job.timer);
    this.#timed.delete(job);
    this.#queued.delete(job);
    job.state = state;
    if (state === "timed") this.#timed.add(job);
    if (state === "queued") this.#queued.add(job);
  }

  #forget(job: Job<T>): void {
    clearTimeout(job.timer);
    this.#timed.delete(job);
    this.#queued.delete(job);
    if (this.#jobs.get(job.key) === job) this.#jobs.delete(job.key);
    job.end();
  }

  #dropOldest(): void {
    const [oldest] = this.#timed.size > 0 ? this.#timed : this.#queued;
    if (oldest !== undefined) this.#forget(oldest);
  }
}

function newJob<T>(key: string, item: T, forced: boolean): Job<T> {
  let end: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  const stop = new AbortController();
  return { key, item, state: "timed", owed: false, forced, stop, done, end };
}

/** Waits for work, but no longer than that. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const isDone = new AbortController();
  const stop = (): void => isDone.abort();
  await Promise.race([work.then(stop, stop), sleep(Math.min(ms, longestTimerMs), isDone.signal)]);
}
