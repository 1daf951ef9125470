import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { entryPoints } from "../entry-points.js";
import { changedNames } from "./api-report.js";
import { apiReports, strayReports } from "./api-reports.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Most names an entry point may have: each is one more to learn, and one more to keep. */
const maxNames: Readonly<Record<string, number>> = {
  "@holdfast/core": 170,
  "@holdfast/core/plugin-kit": 95,
  "@holdfast/core/store-kit": 139,
  "@holdfast/harness": 10,
  "@holdfast/testing": 70,
};

describe.each(apiReports(root))("$entryPoint.specifier", (api) => {
  const { specifier, report } = api.entryPoint;

  test("has the API that its report shows", async () => {
    const before = existsSync(report) ? readFileSync(report, "utf8") : "";
    const message = [
      `The public API of ${specifier} is not the one in ${relative(root, report)}.`,
      "If the change is intended, run `npm run api` and commit the file. Changed names:",
      ...changedNames(before, api.text),
    ].join("\n");
    await expect(api.text, message).toMatchFileSnapshot(report);
  });

  test("documents every name", () => {
    expect(api.undocumented).toEqual([]);
  });

  test("exports at least one name and not too many", () => {
    expect(api.names.length).toBeGreaterThan(0);
    expect(api.names.length).toBeLessThanOrEqual(maxNames[specifier] ?? Infinity);
  });
});

test("every report belongs to an entry point; delete one that does not", () => {
  expect(strayReports(root)).toEqual([]);
});

test("every limit belongs to an entry point", () => {
  const specifiers = entryPoints(root).map(({ specifier }) => specifier);
  expect(Object.keys(maxNames).filter((name) => !specifiers.includes(name))).toEqual([]);
});
