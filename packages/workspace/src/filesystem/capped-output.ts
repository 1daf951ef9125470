/** Collects output in at most `limit` bytes; of longer output it keeps the head and the tail. */
export class CappedOutput {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head: Buffer = Buffer.alloc(0);
  #headBytes = 0;
  /** Ring buffer of the newest bytes after the head; allocated when the head is full. */
  #tail: Buffer = Buffer.alloc(0);
  #tailBytes = 0;

  constructor(limit: number) {
    this.#headLimit = Math.ceil(limit / 2);
    this.#tailLimit = limit - this.#headLimit;
  }

  /** True once output was dropped. */
  get isTruncated(): boolean {
    return this.#tailBytes > this.#tailLimit;
  }

  /** Adds output. */
  push(chunk: Uint8Array): void {
    const toHead = chunk.subarray(0, this.#headLimit - this.#headBytes);
    this.#growHead(this.#headBytes + toHead.length);
    this.#head.set(toHead, this.#headBytes);
    this.#headBytes += toHead.length;
    const rest = chunk.subarray(toHead.length);
    if (rest.length > 0) this.#pushTail(rest);
  }

  /** Returns the whole output, or head and tail with a note of how many bytes are missing between them. */
  text(): string {
    const head = this.#head.subarray(0, this.#headBytes);
    if (!this.isTruncated)
      return Buffer.concat([head, this.#tail.subarray(0, this.#tailBytes)]).toString("utf8");
    const split = this.#tailLimit === 0 ? 0 : this.#tailBytes % this.#tailLimit;
    const tail = Buffer.concat([this.#tail.subarray(split), this.#tail.subarray(0, split)]);
    const wholeHead = head.subarray(0, lastBoundary(head));
    const wholeTail = tail.subarray(firstBoundary(tail));
    const missing = this.#headBytes + this.#tailBytes - wholeHead.length - wholeTail.length;
    return `${wholeHead}\n[... ${missing} bytes left out ...]\n${wholeTail}`;
  }

  #growHead(bytes: number): void {
    if (bytes <= this.#head.length) return;
    const size = Math.min(this.#headLimit, Math.max(bytes, this.#head.length * 2, 4_096));
    const grown = Buffer.allocUnsafeSlow(size);
    grown.set(this.#head.subarray(0, this.#headBytes));
    this.#head = grown;
  }

  #pushTail(bytes: Uint8Array): void {
    const limit = this.#tailLimit;
    if (limit > 0) {
      if (this.#tail.length === 0) this.#tail = Buffer.allocUnsafeSlow(limit);
      const last = bytes.subarray(Math.max(0, bytes.length - limit));
      const at = (this.#tailBytes + bytes.length - last.length) % limit;
      const toEnd = last.subarray(0, limit - at);
      this.#tail.set(toEnd, at);
      this.#tail.set(last.subarray(toEnd.length), 0);
    }
    this.#tailBytes += bytes.length;
  }
}

/** Returns the end of the last whole character of UTF-8 text that may end within one. */
function lastBoundary(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const length = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Returns the start of the first whole character of UTF-8 text that may begin within one. */
function firstBoundary(bytes: Uint8Array): number {
  let at = 0;
  while (at < Math.min(3, bytes.length) && isContinuation(bytes[at] ?? 0)) at++;
  return at;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
