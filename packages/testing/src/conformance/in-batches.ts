/** Runs `work` on every item, at most `size` at a time; results in the order of the items. */
export async function inBatches<T, R>(
  items: readonly T[],
  size: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += size)
    results.push(
      ...(await Promise.all(
        items.slice(start, start + size).map((item, offset) => work(item, start + offset)),
      )),
    );
  return results;
}
