import { open } from "../dist/sqlite-client.js";
import { describeSqlite } from "./suite-options.mjs";

describeSqlite("SQLite by the small client", open, "../dist/sqlite-client.js");
