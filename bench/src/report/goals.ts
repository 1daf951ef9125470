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
  /** Reason why it is missed, where it is known, and what is left. */
  readonly why?: string | undefined;
}

type Tables = readonly Table[];

interface Goal extends Omit<GoalResult, "measured" | "isMet"> {
  readonly measure: (tables: Tables) => number | undefined;
}

const stores = ["redis", "mysql", "json"];

/** Most times its floor that a turn of one node should take, and what profiles say of the rest. */
const floorLimits: readonly (readonly [store: string, limit: number, why: string])[] = [
  [
    "redis",
    2.2,
    "It waits for two round trips, as the floor does; the rest is some 0.45 ms of the engine's processor time. That profile is flat: a fifth is garbage collection, and no function of ours takes more than 5 %. More bytes are sent, too.",
  ],
  [
    "mysql",
    2.2,
    "What the user says is durable before the model is asked ([P10](guarantees.md)), and the answer after it: two synced commits where the floor has one.",
  ],
  ["json", 3, "The same promise takes three syncs in order on files, where the floor has one."],
];

const inputFirst =
  "What the user says is written ahead of the model call ([P10](guarantees.md)), and the save that opens a call repeats much of what the last one writes.";

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
  ...floorLimits.map(([store, limit, why]) =>
    ratio(
      "one node against the floor, N=1,000",
      store,
      limit,
      turn(store, "one node", "N=1,000"),
      turn(store, "floor", "N=1,000"),
      why,
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
  figure(
    "redo per turn",
    4_000,
    "bytes",
    growth("mysql", "one node", "redo"),
    "A save writes the head, the log's rows, the inbox's row and its removal, and the index entries of each.",
  ),
  figure("statements per turn", 5, "count", growth("mysql", "one node", "commands")),
  figure(
    "bytes written per turn",
    4_000,
    "bytes",
    growth("json", "one node", "bytes sent"),
    inputFirst,
  ),
  figure(
    "growth in 200 turns",
    607_000,
    "bytes",
    growth("json", "one node", "grows by, 200 turns"),
    inputFirst,
  ),
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
  return goals.flatMap(({ measure, why, ...goal }) => {
    const measured = measure(tables);
    if (measured === undefined) return [];
    // A hundredth more is still the same count: a connection that was silent for long is asked whether it is there.
    const isMet = measured <= goal.limit * 1.01;
    return [{ ...goal, measured, isMet, ...(!isMet && why !== undefined && { why }) }];
  });
}

function turn(store: string, contender: string, column: string): Cell {
  return { table: "turns", store, contender, column };
}

function growth(store: string, contender: string, column: string): Cell {
  return { table: "growth", store, contender, column };
}

function ratio(
  goal: string,
  store: string,
  limit: number,
  cell: Cell,
  base: Cell,
  why?: string,
): Goal {
  const measure = (tables: Tables) => ratioOf(figureIn(tables, cell), figureIn(tables, base));
  return { goal, store, limit, unit: "ratio", measure, why };
}

function figure(goal: string, limit: number, unit: Unit, cell: Cell, why?: string): Goal {
  const measure = (tables: Tables) => figureIn(tables, cell);
  return { goal, store: cell.store, limit, unit, measure, why };
}
