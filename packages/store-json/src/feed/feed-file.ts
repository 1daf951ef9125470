import type { FileHandle } from "node:fs/promises";
import { isRecord } from "@holdfast/core/plugin-kit";
import {
  FEED_PAGE_CHARS,
  type FeedBatch,
  type FeedHead,
  feedStep,
  type StoredBatch,
} from "@holdfast/core/store-kit";
import { MAX_AT_ONCE, readOpen, statOpen } from "../io/open-file.js";
import { readRange } from "../io/read-range.js";

/** Batch of a feed, and its line in the file. */
interface BatchLine {
  readonly runId: string;
  readonly first: number;
  readonly count: number;
  readonly chars: number;
  readonly from: number;
  readonly to: number;
}

/** First line of a file: the call, when its feed began, and the head before the lines that follow, if earlier ones were dropped. */
interface FeedTitle {
  readonly callId: string;
  readonly began: number;
  readonly head?: FeedHead | undefined;
}

/** An open file at one moment. */
interface FileLook {
  readonly size: number;
  readonly mtimeMs: number;
  /** False once it was removed, or another file has taken its place. */
  readonly hasName: boolean;
}

const NEWLINE = 0x0a;

/**
 * File of one feed as a process knows it: a line for each batch that was sent to it. The order of the lines decides which of
 * them count, so that every process comes to the same result without a lock.
 */
export class FeedFile {
  head: FeedHead | undefined;
  title: FeedTitle | undefined;
  /** Bytes of the file up to the end of its last whole line. */
  size = 0;
  readonly #maxChars: number;
  /** Names the file itself: another one may have taken its place. */
  #identity = "";
  #lines: BatchLine[] = [];
  #chars = 0;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** Reads what the file has gained; from its beginning when it is another one by now. */
  async refresh(handle: FileHandle): Promise<FileLook> {
    const stat = statOpen(handle);
    const size = Number(stat.size);
    const identity = `${stat.ino} ${stat.birthtimeMs}`;
    if (identity !== this.#identity || size < this.size) this.#reset();
    this.#identity = identity;
    const from = this.size;
    const bytes =
      size - from <= MAX_AT_ONCE
        ? readOpen(handle, size - from, from)
        : await readRange(handle, from, size);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      this.#take(bytes.toString("utf8", start, end), from + start, from + end + 1);
      start = end + 1;
    }
    this.size = from + start;
    return { size, mtimeMs: Number(stat.mtimeMs), hasName: stat.nlink > 0n };
  }

  /** Returns the batches of one page behind a position. */
  async page(handle: FileHandle, after: number): Promise<StoredBatch[]> {
    const from = this.#lines.findIndex(({ first, count }) => first + count - 1 > after);
    if (from < 0) return [];
    let chars = 0;
    const found: StoredBatch[] = [];
    for (const line of this.#lines.slice(from)) {
      chars += line.chars;
      if (found.length > 0 && chars > FEED_PAGE_CHARS) break;
      const { runId, first, count } = line;
      const { body } = lineOf((await readRange(handle, line.from, line.to)).toString("utf8")) ?? {};
      found.push({ runId, first, count, body: String(body) });
    }
    return found;
  }

  /** Returns the file without what was dropped, when that is more than half of it; else null. */
  async shortened(handle: FileHandle): Promise<Buffer | null> {
    const [oldest] = this.#lines;
    if (!oldest || !this.title || !this.head || oldest.from < this.size / 2) return null;
    const { callId, began } = this.title;
    const head: FeedHead = { ...this.head, last: oldest.first - 1, ended: false };
    const title: FeedTitle = { callId, began, head };
    return Buffer.concat([
      Buffer.from(`${JSON.stringify(title)}\n`),
      await readRange(handle, oldest.from, this.size),
    ]);
  }

  #reset(): void {
    this.head = undefined;
    this.title = undefined;
    this.size = 0;
    this.#lines = [];
    this.#chars = 0;
  }

  #take(text: string, from: number, to: number): void {
    const line = lineOf(text);
    if (!line) return;
    if (typeof line["callId"] === "string" && !this.title) {
      this.title = line as unknown as FeedTitle;
      this.head = this.title.head;
    }
    if (typeof line["body"] !== "string") return;
    const batch = line as unknown as FeedBatch;
    const { first, head } = feedStep(this.head, batch);
    if (first === null || !head) return;
    this.head = head;
    const { runId, count, body } = batch;
    this.#lines.push({ runId, first, count, chars: body.length, from, to });
    this.#chars += body.length;
    while (this.#chars > this.#maxChars && this.#lines.length > 1)
      this.#chars -= this.#lines.shift()?.chars ?? 0;
  }
}

/** Null for what a process that died in the middle of a write has left. */
function lineOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
