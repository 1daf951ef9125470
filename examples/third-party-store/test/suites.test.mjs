// All suites of @holdfast/testing, under Node's own runner: node --test test/suites.test.mjs
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { documentStore } from "@holdfast/core/store-kit";
import { describeDistributedStore } from "@holdfast/testing";
import { open as openByClient, openDatabase, sqliteClient } from "../dist/sqlite-client.js";
import { open as openDelta } from "../dist/sqlite-state-store.js";

const newPath = () => join(process.env.SQLITE_DIRECTORY ?? tmpdir(), `holdfast-${randomUUID()}.db`);
const paths = new WeakMap();

function opened(open, path) {
  const store = open(path);
  paths.set(store, path);
  return store;
}

function suiteOf(open, module) {
  return {
    create: () => opened(open, newPath()),
    reopen: (store) => opened(open, paths.get(store)),
    createLimited: () =>
      documentStore(sqliteClient(openDatabase(newPath())), { reach: "host", searchMs: 0 }),
    callRecords: true,
    processes: { module: new URL(module, import.meta.url), location: newPath },
  };
}

describeDistributedStore(
  "SQLite by the small client",
  suiteOf(openByClient, "../dist/sqlite-client.js"),
);
describeDistributedStore("SQLite by deltas", suiteOf(openDelta, "../dist/sqlite-state-store.js"));
