import type { PeerReport } from "../peers/start-peers.js";
import type { GoalResult } from "./goals.js";
import type { Machine } from "./machine.js";
import type { Table } from "./table.js";

/** All that one run measured, as `--json` writes it. */
export interface BenchReport {
  readonly v: 1;
  readonly command: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly seconds: number;
  readonly machine: Machine;
  /** Load average when the run began and when it ended. */
  readonly load: readonly [before: number, after: number];
  /** Fewer rounds than for figures to publish. */
  readonly quick: boolean;
  readonly tables: readonly Table[];
  readonly goals: readonly GoalResult[];
  /** Peers that were asked for. */
  readonly peers: readonly PeerReport[];
  /** Scenarios without tables, because they failed. */
  readonly failures: readonly ScenarioFailure[];
}

/** A scenario that failed. */
export interface ScenarioFailure {
  readonly scenario: string;
  readonly reason: string;
}
