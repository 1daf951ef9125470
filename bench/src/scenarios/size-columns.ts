import type { Column } from "../report/table.js";

/** Name of the column for sessions that hold as many messages: `N=5,000`. */
function sizeName(size: number): string {
  return `N=${size.toLocaleString("en-US")}`;
}

/** Columns of times by the messages in the session. */
export function sizeColumns(sizes: readonly number[]): Column[] {
  return sizes.map((size) => ({ name: sizeName(size), unit: "ms" }));
}
