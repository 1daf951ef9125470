import { formatFigure, formatRatio } from "./format-figure.js";
import type { GoalResult } from "./goals.js";

/** Goals as texts, below the names of their columns. */
export function goalCells(goals: readonly GoalResult[]): string[][] {
  return [
    ["store", "goal", "measured", "at most", ""],
    ...goals.map(({ store, goal, measured, limit, unit, isMet }) => {
      const write = (figure: number) =>
        unit === "ratio" ? formatRatio(figure) : withUnit(figure, unit);
      return [store, goal, write(measured), write(limit), isMet ? "met" : "missed"];
    }),
  ];
}

function withUnit(figure: number, unit: Exclude<GoalResult["unit"], "ratio">): string {
  const text = formatFigure(figure, unit);
  return unit === "ms" || unit === "s" ? `${text} ${unit}` : text;
}
