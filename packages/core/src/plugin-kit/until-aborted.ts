/** The items until the signal aborts: a source that ignores it must not hold its reader. Then throws the signal's reason. */
export async function* untilAborted<T>(
  items: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
  });
  aborted.catch(() => undefined);
  let done = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = iterator.next();
      next.catch(() => undefined);
      const result = await Promise.race([next, aborted]);
      if (result.done) {
        done = true;
        return;
      }
      yield result.value;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    // Not awaited: a source that ignores its signal would never answer.
    if (!done) void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}
