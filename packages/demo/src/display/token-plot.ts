import asciichart, { type PlotConfig } from "asciichart";
import type { DemoTerminal } from "../demo-terminal.js";
import type { TurnTokens } from "../outcome/outcome.js";
import { formatNumber } from "./format.js";
import type { Glyphs } from "./glyphs.js";

/** Rows of the plot. */
const HEIGHT = 12;
/** Columns of the axis at its left, with what asciichart puts around it. */
const AXIS = 11;

/** Plots both sizes of the last request of each turn, as wide as the terminal, with compactions marked below. */
export function tokenPlot(
  turns: readonly TurnTokens[],
  terminal: Pick<DemoTerminal, "columns" | "colors">,
  glyphs: Glyphs,
): string {
  const { colors } = terminal;
  const width = Math.max(20, Math.min(100, terminal.columns - AXIS - 2));
  const columns = inColumns(turns, width);
  const most = (pick: (turn: TurnTokens) => number): number[] =>
    columns.map((group) => Math.max(...group.map(pick)));
  const config: PlotConfig = {
    height: HEIGHT,
    min: 0,
    format: (value) => formatNumber(value).padStart(AXIS - 3),
    ...(glyphs.chart !== undefined && { symbols: glyphs.chart }),
    // asciichart writes its own escape sequences, also where colours are off.
    ...(colors.isColorSupported && { colors: ["\u001b[33m", "\u001b[32m"] }),
  };
  const chart = asciichart.plot(
    [most((turn) => turn.wholeHistory), most((turn) => turn.withHoldfast)],
    config,
  );
  const marks = columns.map((group) => (group.some(({ isCompacted }) => isCompacted) ? "^" : " "));
  const margin = " ".repeat(AXIS - 1);
  return [
    ...chart.split("\n").map((line) => line.trimEnd()),
    `${margin}${marks.join("").trimEnd()}`,
    `${margin}turn 1 to ${turns.length}; ^ compaction`,
    `${margin}upper line: ${colors.yellow("whole history")}; lower line: ${colors.green("with Holdfast")}`,
  ].join("\n");
}

/** Splits the turns into one group per column, or one group per turn where there are fewer turns. */
function inColumns(turns: readonly TurnTokens[], width: number): TurnTokens[][] {
  const count = Math.min(width, turns.length);
  return Array.from({ length: count }, (_, column) =>
    turns.slice(
      Math.floor((column * turns.length) / count),
      Math.floor(((column + 1) * turns.length) / count),
    ),
  );
}
