import { StateCorruptError, StateTooNewError } from "../errors/index.js";
import { isRecord } from "../json/json.js";

/** Turns a document of version `from` into one of version `from + 1`. */
export interface StateMigration {
  readonly from: number;
  migrate(document: Record<string, unknown>): Record<string, unknown>;
}

/** The running release, as {@link migrateDocument} has to know it. */
export interface ReaderVersion {
  /** The newest schema this release writes. */
  readonly current: number;
  readonly migrations: readonly StateMigration[];
}

/** The `format` field of every state document. */
export const STATE_FORMAT = "holdfast.state";
/**
 * The records of calls may be kept beside the head. A state that has such records names this version as its `minReader`,
 * because a reader that does not see them would run a repeated call twice.
 */
export const RECORDS_SCHEMA_VERSION = 2;
/**
 * A run that has not ended says of the head before it only what differs. A state with such a run names this version as its
 * `minReader`: a reader that expects the whole head could not take the run back.
 */
export const UNDO_SCHEMA_VERSION = 3;
/** Schema version this release writes. A migration that changes a section changes it in the `undo` of a run as well. */
export const STATE_SCHEMA_VERSION = 3;

/** This release's versions. */
export const stateReader: ReaderVersion = {
  current: STATE_SCHEMA_VERSION,
  migrations: [1, 2].map((from) => ({ from, migrate: (document) => document })),
};

/**
 * Brings a document up to the schema this release reads, one migration after another.
 *
 * A document of a newer schema whose `minReader` this release satisfies is returned as it is, version included: its
 * unknown fields are kept, so that old and new processes can share a store during a rolling deploy.
 *
 * @throws StateTooNewError when `minReader` is newer than this release
 * @throws StateCorruptError when it is not a state document, or a migration is missing
 */
export function migrateDocument(
  value: unknown,
  reader: ReaderVersion = stateReader,
): Record<string, unknown> {
  if (!isRecord(value)) throw new StateCorruptError("the state document is not a JSON object");
  if (value["format"] !== STATE_FORMAT)
    throw new StateCorruptError(`the state document's format is not "${STATE_FORMAT}"`);
  const { schemaVersion, minReader } = value;
  if (!isVersion(schemaVersion) || !isVersion(minReader))
    throw new StateCorruptError("the state document's schemaVersion or minReader is not a version");
  if (minReader > reader.current)
    throw new StateTooNewError(
      `the state needs a reader of schema ${minReader}; this release reads up to ${reader.current}. Upgrade this process`,
    );
  let document = value;
  for (let version = schemaVersion; version < reader.current; version++) {
    const step = reader.migrations.find((migration) => migration.from === version);
    if (!step)
      throw new StateCorruptError(`no migration leads from state schema ${version} to the next`);
    document = { ...step.migrate(document), schemaVersion: version + 1 };
  }
  return document;
}

function isVersion(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}
