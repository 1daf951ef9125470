import { aligned } from "./aligned.js";
import { goalCells } from "./goal-cells.js";
import type { GoalResult } from "./goals.js";
import type { Table } from "./table.js";
import { failuresOf, tableCells } from "./table-cells.js";

/** A table for a terminal. */
export function textTable(table: Table): string {
  const lines = linesOf(tableCells(table));
  return [table.title, table.about, "", ...lines, ...failuresOf(table), ""].join("\n");
}

/** The goals for a terminal. */
export function textGoals(goals: readonly GoalResult[]): string {
  return ["Goals", "", ...linesOf(goalCells(goals)), ""].join("\n");
}

function linesOf(cells: readonly (readonly string[])[]): string[] {
  return aligned(cells).map((row) => row.join("  ").trimEnd());
}
