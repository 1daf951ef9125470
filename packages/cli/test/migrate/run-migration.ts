import type { DistributedStore } from "@holdfast/core";
import { Migration, type MigrationOptions } from "../../src/migrate/migration.js";
import type { MigrationReport } from "../../src/migrate/migration-report.js";

/** Migrates within this process. */
export function runMigration(
  source: DistributedStore,
  target: DistributedStore,
  options: Partial<MigrationOptions> = {},
): Promise<MigrationReport> {
  return new Migration(
    { source, target },
    {
      filter: {},
      concurrency: 4,
      passes: 5,
      mode: "copy",
      busyWaitMs: 0,
      signal: new AbortController().signal,
      onEvent: () => undefined,
      ...options,
    },
  ).run();
}
