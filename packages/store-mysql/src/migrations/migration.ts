import type { Tables } from "../keys.js";

/** One numbered change of the tables. */
export interface Migration {
  /** 1, 2, 3, …; never changed or reused once released. */
  readonly number: number;
  readonly name: string;
  /** The lowest migration number a release must know to work with tables that have this one. */
  readonly minReader: number;
  /**
   * Idempotent statements, which may also run on two nodes at once and on tables that `schema` created: there they change nothing.
   * One that alters a table changes its form in `schema` as well.
   */
  statements(tables: Tables): readonly string[];
  /**
   * Description of what is missing without it. An optional migration is skipped when the user lacks the privileges.
   * Absent: the migration is required.
   */
  readonly optional?: string | undefined;
}
