/** Line of a diff. */
export interface DiffLine {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

/** Pairs of lines that are compared at most; texts with more are shown as replaced. */
const MAX_PAIRS = 250_000;

/** Compares two texts line by line. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let [oldEnd, freshEnd] = [old.length, fresh.length];
  while (oldEnd > start && freshEnd > start && old[oldEnd - 1] === fresh[freshEnd - 1]) {
    oldEnd--;
    freshEnd--;
  }
  return [
    ...signed(" ", old.slice(0, start)),
    ...changedLines(old.slice(start, oldEnd), fresh.slice(start, freshEnd)),
    ...signed(" ", old.slice(oldEnd)),
  ];
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.replace(/\n$/u, "").split("\n");
}

function signed(sign: DiffLine["sign"], lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ sign, text }));
}

/** Finds the longest common sequence of lines. */
function changedLines(old: readonly string[], fresh: readonly string[]): readonly DiffLine[] {
  if (old.length * fresh.length > MAX_PAIRS) return [...signed("-", old), ...signed("+", fresh)];
  const columns = fresh.length + 1;
  const lengths = new Uint32Array((old.length + 1) * columns);
  const at = (row: number, column: number): number => lengths[row * columns + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--)
    for (let column = fresh.length - 1; column >= 0; column--)
      lengths[row * columns + column] =
        old[row] === fresh[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < fresh.length) {
    const [one, other] = [old[row], fresh[column]];
    if (one !== undefined && one === other) {
      lines.push({ sign: " ", text: one });
      row++;
      column++;
    } else if (
      one !== undefined &&
      (other === undefined || at(row + 1, column) >= at(row, column + 1))
    ) {
      lines.push({ sign: "-", text: one });
      row++;
    } else {
      lines.push({ sign: "+", text: other ?? "" });
      column++;
    }
  }
  return lines;
}
