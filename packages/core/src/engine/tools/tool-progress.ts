import type { JsonValue } from "../../json/json.js";
import { readableJson } from "../../json/readable-json.js";
import { cutText } from "../../plugin-kit/cut-text.js";

/** Least time between two reports. */
const PAUSE_MS = 100;

/** Longest report, as JSON. */
const MAX_PROGRESS_CHARS = 16_384;

/** Passes on what one run of a tool reports: the first value at once, then the latest after each pause. */
export class ToolProgress {
  readonly #tell: (progress: JsonValue) => void;
  /** Value that waits for the end of the pause. */
  #latest: { readonly value: unknown } | null = null;
  #pause: NodeJS.Timeout | undefined;
  #hasEnded = false;

  constructor(tell: (progress: JsonValue) => void) {
    this.#tell = tell;
  }

  report(value: unknown): void {
    if (this.#hasEnded) return;
    this.#latest = { value };
    if (this.#pause === undefined) this.#next();
  }

  /** Passes on the last value; there is none after it. */
  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#pause);
    this.#flush();
  }

  #next(): void {
    const hasTold = this.#flush();
    this.#pause = hasTold ? setTimeout(() => this.#next(), PAUSE_MS).unref() : undefined;
  }

  #flush(): boolean {
    const latest = this.#latest;
    this.#latest = null;
    if (latest) this.#tell(bounded(latest.value));
    return latest !== null;
  }
}

/** Returns a value as JSON of bounded length: a report must not make its tool fail. */
function bounded(value: unknown): JsonValue {
  try {
    const json = readableJson(value);
    const text = JSON.stringify(json);
    if (text.length <= MAX_PROGRESS_CHARS) return json;
    return cutText(typeof json === "string" ? json : text, MAX_PROGRESS_CHARS);
  } catch {
    return "[a value that JSON cannot hold]";
  }
}
