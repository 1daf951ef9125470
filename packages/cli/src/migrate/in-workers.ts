/**
 * Works through a list, some at a time. The first error ends it: nothing new is begun, what is under way is waited for.
 *
 * @param signal - begins nothing new once it is aborted
 */
export async function inWorkers<T>(
  items: readonly T[],
  workers: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      if (signal.aborted || failures.length > 0) return;
      try {
        await work(item);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
}
