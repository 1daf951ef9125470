import { ratioOf } from "../measure/statistics.js";
import { type Cell, figureIn, type Table, type Unit } from "./table.js";

/** A goal of the project and what a run measured of it. */
export interface GoalResult {
  readonly goal: string;
  readonly store: string;
  /** Figure or ratio that was measured. */
  readonly measured: number;
  /** It should be no more than this. */
  readonly limit: number;
  /** `ratio`, or the unit of the figure. */
  readonly unit: Unit | "ratio";
  readonly isMet: boolean;
}

type Tables = readonly Table[];

interface Goal extends Omit<GoalResult, "measured" | "isMet"> {
  readonly measure: (tables: Tables) => number | undefined;
}

const stores = ["redis", "mysql", "json"];

/** Most times its floor that a turn of one node should take. */
const floorLimits: Readonly<Record<string, number>> = { redis: 2.2, mysql: 2.2, json: 3 };

const goals: readonly Goal[] = [
  ...stores.map((store) =>
    ratio(
      "two nodes in turn, N=5,000 against N=10",
      store,
      1.3,
      turn(store, "two nodes in turn", "N=5,000"),
      turn(store, "two nodes in turn", "N=10"),
    ),
  ),
  ...stores.map((store) =>
    ratio(
      "two nodes in turn against one node, N=5,000",
      store,
      1.6,
      turn(store, "two nodes in turn", "N=5,000"),
      turn(store, "one node", "N=5,000"),
    ),
  ),
  ...stores.map((store) =>
    ratio(
      "one node against the floor, N=1,000",
      store,
      floorLimits[store] ?? Number.NaN,
      turn(store, "one node", "N=1,000"),
      turn(store, "floor", "N=1,000"),
    ),
  ),
  figure("processor time of a turn of one node, N=1,000", 1.5, "ms", {
    ...turn("json", "one node", "N=1,000"),
    table: "turns cpu",
  }),
  figure("bytes sent per turn", 3_000, "bytes", growth("redis", "one node", "bytes sent")),
  figure("round trips per turn", 2, "count", growth("redis", "one node", "round trips")),
  ratio(
    "growth against the floor's",
    "redis",
    2,
    growth("redis", "one node", "grows by, 200 turns"),
    growth("redis", "floor", "grows by, 200 turns"),
  ),
  figure("redo per turn", 4_000, "bytes", growth("mysql", "one node", "redo")),
  figure("statements per turn", 5, "count", growth("mysql", "one node", "commands")),
  ...stores.map((store) =>
    figure("longest takeover", 5, "s", {
      table: "takeover",
      store,
      contender: "takeover",
      column: "longest",
    }),
  ),
];

/** Compares what was measured with the goals; those of which nothing was measured are left out. */
export function goalResults(tables: Tables): GoalResult[] {
  return goals.flatMap(({ measure, ...goal }) => {
    const measured = measure(tables);
    // A hundredth more is still the same count: a connection that was silent for long is asked whether it is there.
    return measured === undefined
      ? []
      : [{ ...goal, measured, isMet: measured <= goal.limit * 1.01 }];
  });
}

function turn(store: string, contender: string, column: string): Cell {
  return { table: "turns", store, contender, column };
}

function growth(store: string, contender: string, column: string): Cell {
  return { table: "growth", store, contender, column };
}

function ratio(goal: string, store: string, limit: number, cell: Cell, base: Cell): Goal {
  const measure = (tables: Tables) => ratioOf(figureIn(tables, cell), figureIn(tables, base));
  return { goal, store, limit, unit: "ratio", measure };
}

function figure(goal: string, limit: number, unit: Unit, cell: Cell): Goal {
  return { goal, store: cell.store, limit, unit, measure: (tables) => figureIn(tables, cell) };
}
