import { open, openDatabase, sqliteClient } from "../dist/sqlite-client.js";
import { describeSqlite } from "./suite-options.mjs";

describeSqlite("SQLite by the small client", open, "../dist/sqlite-client.js", (path) =>
  sqliteClient(openDatabase(path)),
);
