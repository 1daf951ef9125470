import { longestTimerMs, sleep } from "@holdfast/core";
import { BoundedMap } from "./bounded-map.js";

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
/** How many pieces of work may be under way, timers included; beyond, the oldest timer is dropped. */
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
  readonly #notBefore = new BoundedMap<number>(MAX_REMEMBERED);
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

  /** Asks for work; `force` does not wait for its time. */
  ask(key: string, item: T, force = false): void {
    if (this.#isClosed) return;
    const known = this.#jobs.get(key);
    const notBefore = force ? 0 : (this.#notBefore.get(key) ?? 0);
    const waitMs = notBefore - this.#options.now();
    if (known === undefined) {
      const job = newJob(item, force);
      this.#dropOldest();
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
      else this.#forget(key, job);
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
    for (const [key, job] of this.#jobs) {
      if (job.state === "timed" && !finish) this.#forget(key, job);
      if (job.state === "running") continue;
      job.forced ||= finish;
      if (job.state === "timed" && finish) this.#queue(job);
    }
    await within(timeoutMs, Promise.all(Array.from(this.#jobs.values(), ({ done }) => done)));
    await this.cancel(() => true);
  }

  #arm(job: Job<T>, waitMs: number): void {
    clearTimeout(job.timer);
    job.state = "timed";
    job.timer = setTimeout(() => this.#queue(job), Math.min(waitMs, longestTimerMs));
    job.timer.unref();
  }

  #queue(job: Job<T>): void {
    clearTimeout(job.timer);
    job.state = "queued";
    this.#startNext();
  }

  #startNext(): void {
    for (const [key, job] of this.#jobs) {
      if (this.#running >= this.#options.maxRunning) return;
      if (job.state !== "queued") continue;
      job.state = "running";
      this.#running++;
      void this.#run(key, job);
    }
  }

  async #run(key: string, job: Job<T>): Promise<void> {
    const { forced } = job;
    job.forced = false;
    const outcome = await this.#options
      .run(job.item, { forced, signal: job.stop.signal })
      .catch(() => ({ notBefore: 0, again: false }));
    this.#running--;
    // A piece that was too early when the end came is done at the end.
    if (this.#isFinishing && !forced && (outcome.again || job.owed)) job.owed = job.forced = true;
    this.#settle(key, job, outcome);
    this.#startNext();
  }

  #settle(key: string, job: Job<T>, { notBefore, again }: Outcome): void {
    const waitMs = notBefore - this.#options.now();
    if (!job.stop.signal.aborted) this.#notBefore.set(key, notBefore);
    // At the end there is time for what was asked for, not for what could go on for long.
    const isOwed = job.owed || (again && !this.#isClosed);
    const isDue = waitMs <= 0 || job.forced;
    job.owed = false;
    if (!isOwed || job.stop.signal.aborted || (this.#isClosed && !isDue)) this.#forget(key, job);
    else if (isDue) job.state = "queued";
    else this.#arm(job, waitMs);
  }

  #forget(key: string, job: Job<T>): void {
    clearTimeout(job.timer);
    if (this.#jobs.get(key) === job) this.#jobs.delete(key);
    job.end();
  }

  #dropOldest(): void {
    if (this.#jobs.size < MAX_JOBS) return;
    for (const [key, job] of this.#jobs) {
      if (job.state !== "timed") continue;
      this.#forget(key, job);
      return;
    }
  }
}

function newJob<T>(item: T, forced: boolean): Job<T> {
  let end: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { item, state: "timed", owed: false, forced, stop: new AbortController(), done, end };
}

/** Waits for work, but no longer than that. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const isDone = new AbortController();
  const stop = (): void => isDone.abort();
  await Promise.race([work.then(stop, stop), sleep(Math.min(ms, longestTimerMs), isDone.signal)]);
}
