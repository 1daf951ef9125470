import type { NodeBeats } from "@holdfast/core/store-kit";
import { asText } from "../connection/cells.js";
import type { Database } from "../connection/database.js";

const SWEPT_AT_ONCE = 100;

/** Heartbeats of processes, each in a row of its own. */
export class NodeRows implements NodeBeats {
  readonly timeoutMs: number;
  readonly #database: Database;

  constructor(database: Database, timeoutMs: number) {
    this.#database = database;
    this.timeoutMs = timeoutMs;
  }

  async beat(nodeId: string, count: number, deadlineMs: number): Promise<void> {
    await this.#database
      .within(deadlineMs)
      .write(
        "sending a heartbeat",
        `INSERT INTO ${this.#database.tables.nodes} (id, beats, beat_at) VALUES (?, ?, UTC_TIMESTAMP(6)) ON DUPLICATE KEY UPDATE beats = ?, beat_at = UTC_TIMESTAMP(6)`,
        [Buffer.from(nodeId, "utf8"), count, count],
      );
  }

  async lastBeat(nodeId: string, deadlineMs: number): Promise<string | null> {
    const [row] = await this.#database
      .within(deadlineMs)
      .read(
        "looking for a heartbeat",
        `SELECT CAST(beats AS CHAR) FROM ${this.#database.tables.nodes} WHERE id = ?`,
        [Buffer.from(nodeId, "utf8")],
      );
    return row === undefined ? null : asText(row[0]);
  }

  /** Removes what processes have left that ended long ago. */
  async sweep(): Promise<void> {
    await this.#database.write(
      "removing heartbeats of processes that ended",
      `DELETE FROM ${this.#database.tables.nodes} WHERE beat_at < UTC_TIMESTAMP(6) - INTERVAL 1 HOUR ORDER BY beat_at LIMIT ${SWEPT_AT_ONCE}`,
    );
  }
}
