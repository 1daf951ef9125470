/**
 * What `work` returns; undefined when it throws, for telemetry must not fail the call it watches. A promise, which nobody
 * expects here, must not end the process when it is rejected.
 */
export function quietly<T>(work: () => T): T | undefined {
  try {
    const result = work();
    if (result instanceof Promise) result.catch(() => undefined);
    return result;
  } catch {
    return undefined;
  }
}
