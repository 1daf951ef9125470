import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { documentStore } from "@holdfast/core/store-kit";
import { describeDistributedStore, distributedStoreCases } from "@holdfast/testing";
import { openDatabase, sqliteClient } from "../dist/sqlite-client.js";

const directory = mkdtempSync(join(process.env.SQLITE_DIRECTORY ?? tmpdir(), "holdfast-sqlite-"));
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));

const newPath = () => join(directory, `${randomUUID()}.db`);
const paths = new WeakMap();

/**
 * Registers all suites for a store, or those whose title contains the environment's `SUITES`.
 *
 * @param clientAt - makes the client of the database at a path, for a store that `documentStore` made
 */
export function describeSqlite(name, open, module, clientAt) {
  const opened = (path) => {
    const store = open(path);
    paths.set(store, path);
    return store;
  };
  const options = {
    create: () => opened(newPath()),
    reopen: (store) => opened(paths.get(store)),
    createLimited: () =>
      documentStore(sqliteClient(openDatabase(newPath())), { reach: "host", searchMs: 0 }),
    ...(clientAt && { client: (store) => clientAt(paths.get(store)) }),
    callRecords: true,
    processes: { module: new URL(module, import.meta.url), location: newPath },
  };
  const { SUITES: wanted } = process.env;
  if (wanted === undefined) return describeDistributedStore(name, options);
  for (const { title, cases } of distributedStoreCases(options))
    if (title.includes(wanted)) for (const { title: sentence, run } of cases) test(sentence, run);
}
