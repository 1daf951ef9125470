/**
 * Runs `work` and ignores what it throws: telemetry must not fail the call it watches. A promise, which is not expected
 * here, must not end the process when it rejects.
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
