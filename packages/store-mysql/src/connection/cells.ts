import { StateCorruptError } from "@holdfast/core";

/** One value of a row; its type depends on the column, and for numbers on the caller's pool options. */
export type Cell = Buffer | string | number | bigint | null;

/** A row; columns by position. */
export type Row = readonly Cell[];

/**
 * Error of a cell that is not of its column's type: the tables were changed, or the rows come from something between this process
 * and the server. {@link readingOf} says whose they are.
 */
class CellError extends StateCorruptError {
  /** The problem alone. */
  readonly problem: string;

  constructor(cell: Cell | undefined, wanted: string) {
    const found = cell === null || cell === undefined ? "NULL" : `a ${typeof cell}`;
    const problem = `a column that holds ${wanted} is ${found}`;
    super(`a row of this store is damaged: ${problem}; restore the tables from a backup`);
    this.problem = problem;
  }
}

/**
 * Returns what `read` reads from rows.
 *
 * @param what - what the rows hold, for errors: `the stored state of session "s"`
 * @throws StateCorruptError when a cell is not of its column's type
 */
export function readingOf<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CellError)) throw error;
    throw new StateCorruptError(`${what} is damaged: ${error.problem}`);
  }
}

/** Reads a binary column as bytes. @throws CellError */
export function asBytes(cell: Cell | undefined): Buffer {
  if (Buffer.isBuffer(cell)) return cell;
  if (typeof cell === "string") return Buffer.from(cell, "utf8");
  throw new CellError(cell, "bytes");
}

/** Reads as {@link asBytes} does; no bytes for null, and for a row that is not there. @throws CellError */
export function asBytesOrNone(cell: Cell | undefined): Buffer {
  return cell === null || cell === undefined ? Buffer.alloc(0) : asBytes(cell);
}

/** Reads a binary column, or a string made by the server, as UTF-8 text. @throws CellError */
export function asText(cell: Cell | undefined): string {
  if (typeof cell === "string") return cell;
  if (Buffer.isBuffer(cell)) return cell.toString("utf8");
  throw new CellError(cell, "text");
}

/** Reads as {@link asText} does; null stays null. @throws CellError */
export function asTextOrNull(cell: Cell | undefined): string | null {
  return cell === null || cell === undefined ? null : asText(cell);
}

/** Reads a number, also where the caller's pool returns large ones as strings. @throws CellError */
export function asNumber(cell: Cell | undefined): number {
  const number = typeof cell === "number" ? cell : Number(textOf(cell));
  if (Number.isFinite(number)) return number;
  throw new CellError(cell, "a number");
}

/** Reads as {@link asNumber} does; 0 for null, and for a row that is not there. @throws CellError */
export function asNumberOrZero(cell: Cell | undefined): number {
  return cell === null || cell === undefined ? 0 : asNumber(cell);
}

/** A text that is no number when the cell has none. */
function textOf(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return "none";
  return String(cell).trim() || "none";
}
