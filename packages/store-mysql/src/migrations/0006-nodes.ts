import type { Migration } from "./migration.js";

/**
 * Creates the table of heartbeats: one row per process that holds sessions or waits for them for longer than a moment.
 *
 * Earlier releases have no heartbeats. Their leases are honoured until they run out, and theirs wait for the leases of others.
 */
export const nodes: Migration = {
  number: 6,
  name: "nodes",
  minReader: 1,
  statements: (t) => [
    `CREATE TABLE IF NOT EXISTS ${t.nodes} (
  id VARBINARY(64) NOT NULL,
  beats BIGINT UNSIGNED NOT NULL,
  beat_at DATETIME(6) NOT NULL,
  PRIMARY KEY (id),
  KEY by_time (beat_at)
) ENGINE=InnoDB`,
  ],
};
