import { open } from "../dist/sqlite-state-store.js";
import { describeSqlite } from "./suite-options.mjs";

describeSqlite("SQLite by deltas", open, "../dist/sqlite-state-store.js");
