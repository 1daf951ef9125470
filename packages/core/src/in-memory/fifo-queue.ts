/** Place in a {@link FifoQueue}; pass it to `remove` to leave the queue early. */
export interface QueuePlace<T> {
  readonly value: T;
  /** @internal */
  previous: QueuePlace<T> | undefined;
  /** @internal */
  next: QueuePlace<T> | undefined;
  /** @internal */
  queued: boolean;
}

/**
 * First-in, first-out queue with removal from the middle in constant time.
 *
 * A linked list: with an array, a thousand waiters that give up together would cost a million moves.
 */
export class FifoQueue<T> {
  #first: QueuePlace<T> | undefined;
  #last: QueuePlace<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(value: T): QueuePlace<T> {
    const place: QueuePlace<T> = { value, previous: this.#last, next: undefined, queued: true };
    if (this.#last) this.#last.next = place;
    else this.#first = place;
    this.#last = place;
    this.#size++;
    return place;
  }

  shift(): T | undefined {
    const place = this.#first;
    if (place) this.remove(place);
    return place?.value;
  }

  /** Removes a place; returns `false` when it is no longer in the queue. */
  remove(place: QueuePlace<T>): boolean {
    if (!place.queued) return false;
    if (place.previous) place.previous.next = place.next;
    else this.#first = place.next;
    if (place.next) place.next.previous = place.previous;
    else this.#last = place.previous;
    place.queued = false;
    place.previous = undefined;
    place.next = undefined;
    this.#size--;
    return true;
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (let place = this.#first; place; place = place.next) yield place.value;
  }
}
