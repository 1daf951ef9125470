import { aligned } from "./aligned.js";
import { goalCells } from "./goal-cells.js";
import type { BenchReport } from "./report.js";
import type { Table } from "./table.js";
import { failuresOf, tableCells } from "./table-cells.js";

/**
 * The page `docs/benchmarks.md`.
 *
 * @param page - the page so far, whose tables of other runs stay
 */
export function markdownReport(report: BenchReport, page = ""): string {
  const parts = [
    "# Benchmarks",
    "This page is written by `npm run bench -- --write-docs`; do not edit it.",
    `${runOf(report)}\nTables of other runs say so below their headings.`,
    howToRead,
    ...goalsOf(report),
    ...report.tables.flatMap(sectionOf),
    ...peersOf(report),
    ...report.failures.map(({ scenario, reason }) => `**${scenario} failed**: ${reason}`),
    ...keptSections(page, report.tables),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** The page with the tables of a run that measured nothing else, in their place or at the end, each with a line about the run. */
export function withTables(page: string, report: BenchReport): string {
  const sections = page.split(SECTION_START).map((section) => section.trimEnd());
  for (const table of report.tables) {
    const [title = "", ...rest] = sectionOf(table);
    const section = [title, runOf(report), ...rest].join("\n\n");
    const at = sections.findIndex((each) => each.startsWith(`${title}\n`));
    sections.splice(at < 0 ? sections.length : at, 1, section);
  }
  return `${sections.join("\n\n")}\n`;
}

const SECTION_START = /^(?=## )/m;

/** Sections with tables of other runs. */
function keptSections(page: string, tables: readonly Table[]): string[] {
  return page
    .split(SECTION_START)
    .filter((section) => /^## .*\n\nRun on /.test(section))
    .filter((section) => !tables.some(({ title }) => section.startsWith(`## ${title}\n`)))
    .map((section) => section.trimEnd());
}

function runOf({ command, startedAt, seconds, machine, load, quick }: BenchReport): string {
  const { processor, cores, memoryGiB, system, node, redis, mariadb } = machine;
  const [before, after] = load.map((each) => each.toFixed(1));
  const isBusy = load[0] > cores / 2;
  return [
    `Run on ${startedAt.slice(0, 10)} in ${Math.round(seconds / 60)} min with \`${command}\`, on ${cores} cores (${processor}) with ${memoryGiB} GiB, ${system}, Node ${node}, Redis ${redis} (append-only file, synced every second), MariaDB ${mariadb} (log synced at every commit).`,
    `Load average: ${before} before the run, ${after} after it.`,
    ...(isBusy
      ? [
          "**The machine was busy with other work: trust ratios above a factor of two, not the milliseconds.**",
        ]
      : []),
    ...(quick ? ["**Few rounds (`--quick`).**"] : []),
  ].join("\n");
}

const howToRead = `## How to read the tables

- A turn is a call of an agent with the harness's defaults: one question and one answer of 400 characters each, from a model that
  answers at once and offline. What is left is the cost of the framework and its store.
- The **floor** does no more than nobody can leave out: load the last 40 messages and parse them, append two. It has no lock, no
  check for other writers, no log, no idempotency.
- **One node** is one agent. **Two nodes in turn** are two agents with their own caches and connections in one process, which
  alternate on every session; **three nodes at random** likewise. They share a processor, so that only the framework's cost of a
  session that moves is in the figure, not the network between machines.
- All contenders are warmed up first and then measured in rounds, in turns with each other and in another order each time. The
  figure of a round is its median turn; the figure in the table is the lower quartile of the rounds: other work on the machine only
  ever adds. Ratios of one run hold on a noisy machine; milliseconds of different runs do not compare.
- Warm means that hundreds of turns came before, of the floor as well: a process that serves for long has compiled and optimised
  its code.
- Bytes, round trips, commands and growth are counts and the same on any machine.`;

function sectionOf(table: Table): string[] {
  const failures = failuresOf(table).map((failure) => `- ${failure}`);
  return [
    `## ${table.title}`,
    table.about,
    markdownTable(tableCells(table)),
    ...(failures.length > 0 ? [failures.join("\n")] : []),
  ];
}

function goalsOf({ goals }: BenchReport): string[] {
  if (goals.length === 0) return [];
  const reasons = goals.flatMap(({ store, goal, why }) =>
    why === undefined ? [] : [`- ${store}, ${goal}: ${why}`],
  );
  const missed = reasons.length > 0 ? ["What is missed, and why:", reasons.join("\n")] : [];
  return ["## Goals", markdownTable(goalCells(goals)), ...missed];
}

function peersOf({ peers }: BenchReport): string[] {
  if (peers.length === 0) return [];
  const lines = peers.map(({ peer, store, packages, failure }) => {
    const outcome = failure === undefined ? "" : `. Not measured: ${failure}`;
    return `- ${peer} on ${store}: ${packages.map((name) => `\`${name}\``).join(", ")}${outcome}`;
  });
  return ["## Peers", peersAbout, lines.join("\n")];
}

const peersAbout = `Each has its own defaults, a model that answers at once with the same 400 characters, and a process of its own. Sessions of
\`memory\` are stored nowhere: they end with the process.`;

/** A table in the layout of the formatter: names to the left, figures to the right. */
function markdownTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const [names = "", ...lines] = aligned([head, ...rows]).map((row) => `| ${row.join(" | ")} |`);
  const rule = (aligned([head, ...rows])[0] ?? []).map(({ length }, column) =>
    column < 2 ? "-".repeat(length) : `${"-".repeat(length - 1)}:`,
  );
  return [names, `| ${rule.join(" | ")} |`, ...lines].join("\n");
}
