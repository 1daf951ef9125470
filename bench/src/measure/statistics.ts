/** Value below which a quarter of the values lie. Other work on the machine only ever adds, so that it moves less than the median. */
export function lowerQuartile(values: readonly number[]): number {
  return quantile(values, 0.25);
}

/** Value in the middle. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Value below which the given part of the values lies, interpolated between the two nearest; NaN of none. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const position = (sorted.length - 1) * part;
  const [below, above] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  if (below === undefined || above === undefined) return Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

/** Ratio of two figures of the same run; undefined when either is missing or there is nothing to divide by. */
export function ratioOf(
  figure: number | null | undefined,
  base: number | null | undefined,
): number | undefined {
  if (figure === null || figure === undefined || !base) return undefined;
  return figure / base;
}
