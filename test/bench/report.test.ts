import { describe, expect, test } from "vitest";
import { type GoalResult, goalResults } from "../../bench/src/report/goals.js";
import { markdownReport, withTables } from "../../bench/src/report/markdown-report.js";
import type { BenchReport } from "../../bench/src/report/report.js";
import type { Row, Table } from "../../bench/src/report/table.js";
import { textTable } from "../../bench/src/report/text-report.js";

function turns(rows: readonly Row[]): Table {
  return {
    name: "turns",
    title: "A turn, ms",
    about: "About turns.",
    columns: ["N=10", "N=1,000", "N=5,000"].map((name) => ({ name, unit: "ms" })),
    rows,
    ratioTo: "floor",
  };
}

const table = turns([
  { store: "redis", contender: "floor", figures: [0.5, 0.5, 0.5] },
  { store: "redis", contender: "one node", figures: [1, 1, 2] },
  { store: "redis", contender: "two nodes in turn", figures: [1.5, 2, 6] },
]);

test("figures stand beside their ratio to the floor of the same store", () => {
  const text = textTable(table);
  expect(text).toContain("redis  floor                       0.50           0.50           0.50");
  expect(text).toMatch(/one node +1\.00 \(2\.00 ×\) +1\.00 \(2\.00 ×\) +2\.00 \(4\.00 ×\)/);
});

test("a row that failed says why, and what is missing is not a figure", () => {
  const failed = {
    store: "peer",
    contender: "peer",
    figures: [1, null, null],
    failure: "too long",
  };
  const text = textTable(turns([failed]));
  expect(text).toMatch(/peer +peer +1\.00 +– +–/);
  expect(text).toContain("peer on peer: too long");
});

describe("goals", () => {
  const results = goalResults([table]);

  test("are compared with ratios of the same run", () => {
    expect(results).toContainEqual({
      goal: "two nodes in turn, N=5,000 against N=10",
      store: "redis",
      measured: 4,
      limit: 1.3,
      unit: "ratio",
      isMet: false,
    });
    expect(results).toContainEqual({
      goal: "one node against the floor, N=1,000",
      store: "redis",
      measured: 2,
      limit: 2.2,
      unit: "ratio",
      isMet: true,
    });
  });

  test("that are missed for a known reason say it, and those that are met do not", () => {
    const slow = turns([
      { store: "json", contender: "floor", figures: [1, 1, 1] },
      { store: "json", contender: "one node", figures: [4, 4, 4] },
    ]);
    const whys = (...tables: Table[]) => goalResults(tables).map(({ why }) => why);
    expect(whys(slow)).toEqual([expect.stringContaining("three syncs")]);
    expect(whys(table)).toEqual([undefined, undefined, undefined]);
  });

  test("of which nothing was measured are left out", () => {
    expect(results.map(({ store }) => store)).toEqual(["redis", "redis", "redis"]);
    expect(goalResults([])).toEqual([]);
  });
});

function unpadded(text: string): string {
  return text.replaceAll(/ +/g, " ");
}

describe("the page", () => {
  const report: BenchReport = {
    v: 1,
    command: "npm run bench -- turns",
    startedAt: "2026-01-02T03:04:05.000Z",
    seconds: 120,
    machine: {
      processor: "Some Processor",
      cores: 2,
      memoryGiB: 8,
      system: "linux 6",
      node: "v20.0.0",
      redis: "7.0.0",
      mariadb: "10.0.0",
    },
    load: [7.25, 0.5],
    quick: true,
    failures: [],
    tables: [table],
    goals: goalResults([table]),
    peers: [
      { peer: "Some Peer", store: "file", packages: ["peer@1.2.3"], failure: "no such package" },
    ],
  };
  const page = markdownReport(report);

  test("says on which machine, when and with which command it was made", () => {
    for (const fact of ["Some Processor", "2026-01-02", "`npm run bench -- turns`", "7.3 before"])
      expect(page).toContain(fact);
  });

  test("says that the machine was busy and the rounds few", () => {
    expect(page).toContain("The machine was busy");
    expect(page).toContain("`--quick`");
    expect(markdownReport({ ...report, load: [0.5, 0.5] })).not.toContain("The machine was busy");
  });

  test("has the tables, the goals and the peers, also those that are missing", () => {
    expect(unpadded(page)).toContain(
      "| redis | one node | 1.00 (2.00 ×) | 1.00 (2.00 ×) | 2.00 (4.00 ×) |",
    );
    expect(unpadded(page)).toContain(
      "| redis | one node against the floor, N=1,000 | 2.00 × | 2.20 × | met |",
    );
    expect(page).toContain("- Some Peer on file: `peer@1.2.3`. Not measured: no such package");
  });

  test("says below the goals why one is missed", () => {
    const [goal] = report.goals;
    const missed = {
      ...report,
      goals: [{ ...goal, isMet: false, why: "It waits." } as GoalResult],
    };
    expect(markdownReport(missed)).toContain(
      "missed |\n\nWhat is missed, and why:\n\n- redis, two nodes in turn, N=5,000 against N=10: It waits.\n",
    );
    expect(page).not.toContain("What is missed");
  });

  test("has the tables of other runs, each with its run, until they are measured again", () => {
    const other = { ...table, name: "other", title: "Another table" };
    const named = { ...report, tables: [other], command: "npm run bench -- other" };
    const both = withTables(page, named);
    expect(both.startsWith(page.trimEnd())).toBe(true);
    expect(both).toMatch(/## Another table\n\nRun on .*with `npm run bench -- other`/);
    expect(withTables(both, named)).toBe(both);
    expect(markdownReport(report, both)).toBe(both);
    const renewed = withTables(both, { ...named, startedAt: "2027-01-01T00:00:00Z" });
    expect(renewed).toBe(
      `${page.trimEnd()}${both.slice(page.length - 1).replace("2026-01-02", "2027-01-01")}`,
    );
    expect(
      markdownReport({ ...report, tables: [table, other] }, both).split("## Another table"),
    ).toHaveLength(2);
  });
});
