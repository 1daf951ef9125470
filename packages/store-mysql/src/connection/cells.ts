/** One value of a row. Which of these it is depends on the column, and for numbers on the caller's pool options. */
export type Cell = Buffer | string | number | bigint | null;

/** A row; columns by position. */
export type Row = readonly Cell[];

/** Bytes of a binary column. */
export function asBytes(cell: Cell | undefined): Buffer {
  if (Buffer.isBuffer(cell)) return cell;
  return Buffer.from(cell === null || cell === undefined ? "" : String(cell), "utf8");
}

/** UTF-8 text of a binary column, or a string the server made. */
export function asText(cell: Cell | undefined): string {
  if (typeof cell === "string") return cell;
  return asBytes(cell).toString("utf8");
}

/** As {@link asText}; null stays null. */
export function asTextOrNull(cell: Cell | undefined): string | null {
  return cell === null || cell === undefined ? null : asText(cell);
}

/** A number, also where the caller's pool gives large ones as strings; 0 for null. */
export function asNumber(cell: Cell | undefined): number {
  return Number(Buffer.isBuffer(cell) ? cell.toString("utf8") : (cell ?? 0));
}
