import type { Tables } from "../keys.js";

/** One numbered change of the tables. */
export interface Migration {
  /** 1, 2, 3, …; never changed or reused once released. */
  readonly number: number;
  readonly name: string;
  /** The lowest migration number a release must know to work with tables that have this one. */
  readonly minReader: number;
  /** Statements that do no harm when they run a second time, or on two nodes at once. */
  statements(tables: Tables): readonly string[];
  /**
   * What is lost without it, where everything else works: it is left out when the user lacks the rights.
   * Absent: the migration is required.
   */
  readonly optional?: string | undefined;
}
