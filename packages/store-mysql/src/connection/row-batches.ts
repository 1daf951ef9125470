/** Numbers of rows per INSERT: few statement texts to prepare, and a usual turn fits into one statement. */
const BATCH_SIZES: readonly number[] = [64, 32, 16, 8, 7, 6, 5, 4, 3, 2, 1];

/** Far below any server's `max_allowed_packet`; a larger row is sent alone. */
const BATCH_BYTES = 524_288;

/** Splits rows, in their order, into batches for one statement each. */
export function* rowBatches<Row>(
  rows: readonly Row[],
  bytesOf: (row: Row) => number,
): Generator<readonly Row[]> {
  for (let start = 0; start < rows.length; ) {
    const fitting = countThatFits(rows, start, bytesOf);
    const count = BATCH_SIZES.find((shape) => shape <= fitting) ?? 1;
    yield rows.slice(start, start + count);
    start += count;
  }
}

function countThatFits<Row>(
  rows: readonly Row[],
  start: number,
  bytesOf: (row: Row) => number,
): number {
  let bytes = 0;
  let count = 0;
  for (const row of rows.slice(start, start + 64)) {
    bytes += bytesOf(row);
    if (bytes > BATCH_BYTES) break;
    count++;
  }
  return Math.max(count, 1);
}
