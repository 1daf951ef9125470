import type { PeerProcess } from "../peers/peer-process.js";
import type { Table } from "../report/table.js";
import type { BenchServers } from "../stores/bench-servers.js";
import type { StoreName } from "../stores/store-side.js";

/** Parts that every scenario gets. */
export interface ScenarioContext {
  readonly servers: BenchServers;
  readonly stores: readonly StoreName[];
  /** Fewer rounds: figures to look at while working, not to publish. */
  readonly quick: boolean;
  /** Rounds of every case. @default the scenario's */
  readonly rounds?: number | undefined;
  /** Peers to compare with; empty unless they were asked for. */
  readonly peers: readonly PeerProcess[];
  /** Messages that sessions hold, smallest first. */
  readonly sizes: readonly number[];
  /** Processes that are killed on each store. */
  readonly kills: number;
  /** Takes a line of the result of a bench that makes no table. */
  readonly print: (line: string) => void;
  /** Takes a line about the progress. */
  readonly progress: (line: string) => void;
}

/** A situation in which turns are measured. */
export interface Scenario {
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  run(context: ScenarioContext): Promise<Table[]>;
}
