/** One value of a row; its type depends on the column, and for numbers on the caller's pool options. */
export type Cell = Buffer | string | number | bigint | null;

/** A row; columns by position. */
export type Row = readonly Cell[];

/** Reads a binary column as bytes. */
export function asBytes(cell: Cell | undefined): Buffer {
  if (Buffer.isBuffer(cell)) return cell;
  return Buffer.from(cell === null || cell === undefined ? "" : String(cell), "utf8");
}

/** Reads a binary column, or a string made by the server, as UTF-8 text. */
export function asText(cell: Cell | undefined): string {
  if (typeof cell === "string") return cell;
  return asBytes(cell).toString("utf8");
}

/** Reads as {@link asText} does; null stays null. */
export function asTextOrNull(cell: Cell | undefined): string | null {
  return cell === null || cell === undefined ? null : asText(cell);
}

/** Reads a number, also where the caller's pool returns large ones as strings; 0 for null. */
export function asNumber(cell: Cell | undefined): number {
  return Number(Buffer.isBuffer(cell) ? cell.toString("utf8") : (cell ?? 0));
}
