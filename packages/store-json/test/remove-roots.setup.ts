import { afterAll } from "vitest";
import { removeRoots } from "./temporary-root.js";

// Here, and not beside `temporaryRoot`: that module is loaded once for all test files of a worker, this one for each.
afterAll(removeRoots);
