import type { PromptStep } from "../../middleware/middleware.js";

/** Session and context that a prefetch is for. */
export type PrefetchStep = Pick<PromptStep, "slot" | "ctx">;

/** Fetches what a section of the prompt needs; see `host.promptSection`. */
export type PromptPrefetch = (step: PrefetchStep) => Promise<void>;

/** Prefetches of one call: begun while it waits for its session, waited for where its prompt is made. */
export class Prefetch {
  readonly #runs: readonly PromptPrefetch[];
  readonly #step: PrefetchStep;
  #fetched: Promise<unknown> | undefined;

  constructor(runs: readonly PromptPrefetch[], step: PrefetchStep) {
    this.#runs = runs;
    this.#step = step;
  }

  /** Begins; once more when what was fetched may be out of date. */
  begin(): void {
    const fetched = Promise.all(this.#runs.map(async (run) => run(this.#step)));
    // Told to those who wait for it; a call may end before anything does.
    fetched.catch(() => undefined);
    this.#fetched = fetched;
  }

  /** Resolves once everything is fetched; begins where nothing has. */
  async done(): Promise<void> {
    if (!this.#fetched) this.begin();
    await this.#fetched;
  }
}
