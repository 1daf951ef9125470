import type { Tables } from "../keys.js";

/** Returns a statement that changes a table. */
export function alterTable(table: string, change: string): string {
  return `ALTER TABLE ${table} ${change}`;
}

/** Returns statements for one connection that run `statement` unless rows are found; MySQL has no `ADD COLUMN IF NOT EXISTS`. */
export function unlessThere(found: string, statement: string): readonly string[] {
  return [
    `SET @holdfast_change = IF((SELECT COUNT(*) FROM ${found}) > 0, 'DO 0', '${statement}')`,
    "PREPARE holdfast_change FROM @holdfast_change",
    "EXECUTE holdfast_change",
    "DEALLOCATE PREPARE holdfast_change",
  ];
}

/** Rows for {@link unlessThere} that tell of a column. */
export function column({ prefix }: Tables, table: string, name: string): string {
  return `information_schema.columns WHERE table_schema = DATABASE() AND table_name = '${prefix}${table}' AND column_name = '${name}'`;
}

/** Rows for {@link unlessThere} that tell of an index. */
export function index({ prefix }: Tables, table: string, name: string): string {
  return `information_schema.statistics WHERE table_schema = DATABASE() AND table_name = '${prefix}${table}' AND index_name = '${name}'`;
}
