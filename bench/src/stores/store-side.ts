import type { Contender } from "../measure/contender.js";

/** Stores that are measured. */
export const storeNames = ["redis", "mysql", "json"] as const;

/** Name of a store that is measured. */
export type StoreName = (typeof storeNames)[number];

/** Counts of a store so far; undefined where it has no such thing. */
export interface StoreCounters {
  /** Bytes sent to the server, or written to files. */
  readonly bytesSent?: number | undefined;
  /** Times that something was sent and its answer waited for. */
  readonly roundTrips?: number | undefined;
  /** Commands or statements that clients sent. */
  readonly commands?: number | undefined;
  /** Bytes that the server wrote to its redo log. */
  readonly redoBytes?: number | undefined;
}

/** A store's own side of the benchmark: its floor, and ways to fill it and to see what it holds. */
export interface StoreSide {
  /** The least that a turn can be here: load the last 40 messages, append two. */
  readonly floor: Contender;
  /** Makes a session for nodes. */
  seed(sessionId: string, messages: number): Promise<void>;
  /** Bytes that all of this place takes in the store. */
  storedBytes(): Promise<number>;
  /** Counts so far, of floor and nodes together. */
  counters(): Promise<StoreCounters>;
  /** Closes connections. */
  close(): Promise<void>;
}

/** Messages that a floor loads. */
export const FLOOR_WINDOW = 40;
