import { ratioOf } from "../measure/statistics.js";
import { formatFigure, formatRatio } from "./format-figure.js";
import type { Row, Table } from "./table.js";

/** A table as texts: the names of its columns, then its rows, with ratios beside the figures. */
export function tableCells(table: Table): string[][] {
  const head = ["store", "", ...table.columns.map(({ name }) => name)];
  return [head, ...table.rows.map((row) => [row.store, row.contender, ...figuresOf(table, row)])];
}

function figuresOf(table: Table, row: Row): string[] {
  const base = baseOf(table, row);
  return table.columns.map(({ unit }, index) => {
    const figure = row.figures[index];
    const ratio = base === undefined ? undefined : ratioOf(figure, base.figures[index]);
    const text = formatFigure(figure, unit);
    return ratio === undefined ? text : `${text} (${formatRatio(ratio)})`;
  });
}

function baseOf({ rows, ratioTo }: Table, row: Row): Row | undefined {
  if (ratioTo === undefined || row.contender === ratioTo) return undefined;
  return rows.find(({ store, contender }) => store === row.store && contender === ratioTo);
}

/** Sentences about rows of which figures are missing. */
export function failuresOf({ rows }: Table): string[] {
  return rows.flatMap(({ store, contender, failure }) =>
    failure === undefined ? [] : [`${contender} on ${store}: ${failure}`],
  );
}
