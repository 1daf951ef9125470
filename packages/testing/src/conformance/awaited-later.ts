/**
 * Returns a promise that a case begins now and awaits later. If the case fails before that, a rejection of the promise is
 * not reported on top of it, as an error outside of every test.
 */
export function awaitedLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
