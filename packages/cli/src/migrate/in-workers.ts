/**
 * Works through a list with a number of concurrent workers. After the first error nothing new is started, and work in
 * progress is awaited.
 *
 * @param signal - once aborted, nothing new is started
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
