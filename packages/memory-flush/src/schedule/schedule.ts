import { BoundedMap } from "@holdfast/core/plugin-kit";
import { longestTimerMs, sleep } from "@holdfast/core/store-kit";
import { plausibleTime } from "./due-time.js";

/** Result of a job. */
export interface Outcome {
  /** Time in milliseconds before which the job need not run again. */
  readonly notBefore: number;
  /** True when there is more to do then. */
  readonly again: boolean;
}

/** Options of one run of a job. */
export interface RunOptions {
  /** True to run although the job is not due. */
  readonly forced: boolean;
  readonly signal: AbortSignal;
}

/** Options of a {@link Schedule}. */
export interface ScheduleOptions<T> {
  /** Runs a job; must not reject, and should end soon after its signal aborts. */
  run(item: T, options: RunOptions): Promise<Outcome>;
  now(): number;
  /** Most jobs that run at a time; others wait. */
  readonly maxRunning: number;
}

interface Job<T> {
  readonly key: string;
  item: T;
  state: "timed" | "queued" | "running";
  /** True when it was requested again while it ran. */
  isRequested: boolean;
  forced: boolean;
  timer?: ReturnType<typeof setTimeout> | undefined;
  readonly stop: AbortController;
  /** Resolves when nothing is left to do. */
  readonly done: Promise<void>;
  readonly end: () => void;
}

/** Most keys whose `notBefore` is remembered. */
const MAX_REMEMBERED = 10_000;
/** Most jobs, including timers; beyond that, the oldest timer is dropped, or else the next in the queue. */
const MAX_JOBS = 10_000;
/** Time to wait for jobs that were told to stop. */
const STOPPING_MS = 5_000;

/**
 * Runs jobs in the background, one at a time per key: at once, or when they are due.
 *
 * Timers do not keep the process alive. A job that is requested while it runs is run once more afterwards.
 */
export class Schedule<T> {
  readonly #options: ScheduleOptions<T>;
  readonly #jobs = new Map<string, Job<T>>();
  /** Jobs that wait until they are due, and jobs that are next, in order. */
  readonly #timed = new Set<Job<T>>();
  readonly #queued = new Set<Job<T>>();
  readonly #notBefore = new BoundedMap<string, { readonly at: number; readonly saidAt: number }>({
    maxEntries: MAX_REMEMBERED,
  });
  #running = 0;
  #isClosed = false;
  /** True when closing runs the jobs that are not due yet. */
  #isFinishing = false;

  constructor(options: ScheduleOptions<T>) {
    this.#options = options;
  }

  /** True once {@link close} was called. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Number of jobs, including timers. */
  get size(): number {
    return this.#jobs.size;
  }

  /** Requests a job; with `force`, at once. */
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
    if (known.state === "running") known.isRequested = true;
    else if (known.state === "timed" && waitMs <= 0) this.#queue(known);
  }

  /** Forgets the `notBefore` of a key. */
  reset(key: string): void {
    this.#notBefore.delete(key);
  }

  /** Drops waiting jobs, stops running ones and waits for them to end. */
  async cancel(matches: (item: T) => boolean): Promise<void> {
    const ends: Promise<void>[] = [];
    for (const [key, job] of this.#jobs) {
      if (!matches(job.item)) continue;
      this.#notBefore.delete(key);
      job.isRequested = false;
      job.stop.abort(new DOMException("cancelled", "AbortError"));
      if (job.state === "running") ends.push(job.done);
      else this.#forget(job);
    }
    await within(STOPPING_MS, Promise.all(ends));
  }

  /**
   * Accepts no more jobs, drops those that are not due, and waits for the others; stops them after `timeoutMs`.
   *
   * @param finish - also run the jobs that are not due, now
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

  /** Returns the time until a key is due. A time from a clock that was far ahead does not count. */
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
    // While closing nothing waits: a job that was requested meanwhile, or was too early, runs now.
    const isLeft = job.isRequested || (outcome.again && !forced);
    if (this.#isFinishing && isLeft) job.isRequested = job.forced = true;
    this.#settle(job, outcome, saidAt);
    this.#startNext();
  }

  #settle(job: Job<T>, { notBefore, again }: Outcome, saidAt: number): void {
    const { key, item, isRequested, forced } = job;
    job.isRequested = false;
    if (job.stop.signal.aborted) {
      this.#forget(job);
      // Requested after it was cancelled: that is a new job.
      if (isRequested) this.ask(key, item, forced);
      return;
    }
    this.#notBefore.set(key, { at: notBefore, saidAt });
    const waitMs = this.#waitMs(key);
    // While closing there is time for what was requested, not for work that could go on for long.
    const isWanted = isRequested || (again && !this.#isClosed);
    const isDue = waitMs <= 0 || forced;
    if (!isWanted || (this.#isClosed && !isDue)) this.#forget(job);
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
  return { key, item, state: "timed", isRequested: false, forced, stop, done, end };
}

/** Waits for work, but at most `ms`. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const isDone = new AbortController();
  const stop = (): void => isDone.abort();
  await Promise.race([work.then(stop, stop), sleep(Math.min(ms, longestTimerMs), isDone.signal)]);
}
