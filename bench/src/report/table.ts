/** Unit of a figure, which decides how it is written. */
export type Unit = "ms" | "s" | "bytes" | "count" | "turns/s";

/** Column of a table. */
export interface Column {
  readonly name: string;
  readonly unit: Unit;
}

/** Figures of one contender on one store. */
export interface Row {
  readonly store: string;
  readonly contender: string;
  /** One per column; null where there is none. */
  readonly figures: readonly (number | null)[];
  /** Reason why figures are missing. */
  readonly failure?: string | undefined;
}

/** Figures that one scenario measured. */
export interface Table {
  /** Name of the scenario, and of the table if it has several: `turns`, `turns cpu`. */
  readonly name: string;
  readonly title: string;
  /** Description of how the figures were made and how to read them. */
  readonly about: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** Contender of the same store to which ratios are shown. */
  readonly ratioTo?: string | undefined;
}

/** Figure of a table, if it was measured. */
export function figureIn(
  tables: readonly Table[],
  { table, store, contender, column }: Cell,
): number | undefined {
  const found = tables.find(({ name }) => name === table);
  const index = found?.columns.findIndex(({ name }) => name === column) ?? -1;
  const row = found?.rows.find((each) => each.store === store && each.contender === contender);
  return row?.figures[index] ?? undefined;
}

/** Place of a figure. */
export interface Cell {
  readonly table: string;
  readonly store: string;
  readonly contender: string;
  readonly column: string;
}
