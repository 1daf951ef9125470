import { readFileSync } from "node:fs";

/** Reads one of the files in `data/`. */
export function loadData(name) {
  return JSON.parse(readFileSync(new URL(`../data/${name}.json`, import.meta.url), "utf8"));
}
