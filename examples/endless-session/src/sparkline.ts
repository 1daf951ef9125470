const levels = "▁▂▃▄▅▆▇█";

/** Draws parts of a whole (0 to 1) in one line; where several share a column the largest is shown. */
export function sparkline(values: readonly number[], columns: number): string {
  const perColumn = Math.ceil(values.length / columns);
  let text = "";
  for (let start = 0; start < values.length; start += perColumn) {
    const most = Math.max(...values.slice(start, start + perColumn));
    const level = Math.floor(Math.min(1, Math.max(0, most)) * levels.length);
    text += levels[Math.min(level, levels.length - 1)];
  }
  return text;
}
