import type { StoreReport } from "@holdfast/store-json";

/** Reports shown; of more nobody learns more. */
const MOST_SHOWN = 100;

/** Shows what a source of files passes over, each once: what nobody hears of is lost with the source. */
export class SourceReports {
  readonly #show: (text: string) => void;
  readonly #shown = new Set<string>();
  #hasSkipped = false;

  constructor(show: (text: string) => void) {
    this.#show = show;
  }

  /** Whether there may be sessions that could not be listed. */
  get hasSkipped(): boolean {
    return this.#hasSkipped;
  }

  take({ kind, message }: StoreReport): void {
    if (kind === "entry_skipped") this.#hasSkipped = true;
    if (this.#shown.size >= MOST_SHOWN || this.#shown.has(message)) return;
    this.#shown.add(message);
    this.#show(`The source: ${message}`);
  }
}
