import { describe, expect, test } from "vitest";
import {
  migrateDocument,
  type ReaderVersion,
  STATE_SCHEMA_VERSION,
  StateCorruptError,
  StateTooNewError,
  stateReader,
} from "../values.js";

const document = (schemaVersion: number, minReader = 0) => ({
  format: "holdfast.state",
  schemaVersion,
  minReader,
  trail: [] as number[],
});

/** A reader of schema 4 whose migrations leave a trail. */
const reader: ReaderVersion = {
  current: 4,
  migrations: [3, 1, 2, 0].map((from) => ({
    from,
    migrate: (value) => ({
      ...value,
      trail: [...(value["trail"] as number[]), value["schemaVersion"] as number],
    }),
  })),
};

describe("migrations", () => {
  test.each([
    [0, [0, 1, 2, 3]],
    [1, [1, 2, 3]],
    [3, [3]],
    [4, []],
  ])("run one after another from version %i up", (version, trail) => {
    const migrated = migrateDocument(document(version), reader);
    expect(migrated).toEqual({ ...document(4), trail });
  });

  test("leave the given document alone", () => {
    const given = document(0);
    migrateDocument(given, reader);
    expect(given).toEqual(document(0));
  });

  test("set the version themselves, whatever a migration says", () => {
    const migrations = [{ from: 0, migrate: () => ({ ...document(99), minReader: 1 }) }];
    expect(migrateDocument(document(0), { current: 1, migrations })).toMatchObject({
      schemaVersion: 1,
      minReader: 1,
    });
  });

  test("are not run on a newer document that this reader may read: it is the same object", () => {
    const newer = document(9, 4);
    expect(migrateDocument(newer, reader)).toBe(newer);
    expect(newer).toEqual(document(9, 4));
  });

  test("keep a __proto__ field as data", () => {
    const given = JSON.parse(
      '{"format":"holdfast.state","schemaVersion":3,"minReader":1,"trail":[],"__proto__":1}',
    );
    expect(Object.hasOwn(migrateDocument(given, reader), "__proto__")).toBe(true);
  });

  test("that are missing make the document corrupt, never half migrated", () => {
    const gap = { current: 4, migrations: reader.migrations.filter(({ from }) => from !== 2) };
    expect(() => migrateDocument(document(1), gap)).toThrow(expect.toSatisfy(StateCorruptError.is));
    expect(() => migrateDocument(document(1), gap)).toThrow("schema 2");
  });
});

test("a reader older than minReader refuses, whatever the schema version says", () => {
  for (const version of [0, 4, 9])
    expect(() => migrateDocument(document(version, 5), reader)).toThrow(
      expect.toSatisfy(StateTooNewError.is),
    );
  expect(() => migrateDocument(document(9, 4), reader)).not.toThrow();
});

test("this release reads what it writes and has a migration from nothing", () => {
  expect(stateReader.current).toBe(STATE_SCHEMA_VERSION);
  for (const minReader of [1, 2, 3])
    expect(migrateDocument(document(3, minReader))).toEqual(document(3, minReader));
  // What releases before wrote stays readable for them.
  expect(migrateDocument(document(1, 1))).toEqual(document(3, 1));
  expect(migrateDocument(document(2, 2))).toEqual(document(3, 2));
  expect(() => migrateDocument(document(0))).toThrow("no migration leads from state schema 0");
});
