import type { Unit } from "./table.js";

/** Writes a figure for people. */
export function formatFigure(figure: number | null | undefined, unit: Unit): string {
  if (figure === null || figure === undefined || Number.isNaN(figure)) return "–";
  if (unit === "bytes") return formatBytes(figure);
  if (unit === "turns/s") return Math.round(figure).toLocaleString("en-US");
  return figure.toFixed(digits(figure));
}

/** Writes a ratio: `2.41 ×`. */
export function formatRatio(ratio: number): string {
  return `${ratio.toFixed(ratio < 10 ? 2 : 0)} ×`;
}

function digits(figure: number): number {
  const size = Math.abs(figure);
  if (size >= 100) return 0;
  return size >= 10 ? 1 : 2;
}

function formatBytes(bytes: number): string {
  const [scaled, unit] =
    Math.abs(bytes) >= 1_000_000 ? [bytes / 1_000_000, "MB"] : [bytes / 1_000, "kB"];
  return Math.abs(bytes) < 1_000 ? `${Math.round(bytes)} B` : `${scaled.toFixed(1)} ${unit}`;
}
