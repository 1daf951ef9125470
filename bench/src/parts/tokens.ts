import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gptTokenizerCounter, tiktokenCounter } from "@holdfast/compaction";
import { characterEstimate, type TokenCounter } from "@holdfast/core";

/** Figures of one counter. Speeds are in millions of tokens of `o200k_base` per second. */
export interface TokenMeasurement {
  readonly counter: string;
  /** By which part its count of the text is off, for example 0.02. */
  readonly error: number;
  /** The first count of a new process, without loading. */
  readonly coldSpeed: number;
  readonly warmSpeed: number;
  /** From the import of the package to a counter, in a new process. */
  readonly loadMs: number;
  /** Bytes that counter and text add to the memory of a new process. */
  readonly memoryBytes: number;
  /** All files of the package it needs installed. */
  readonly installedBytes: number;
}

interface Cold {
  readonly loadMs: number;
  readonly countMs: number;
  readonly memoryBytes: number;
}

interface Subject {
  readonly create: () => TokenCounter;
  /** Module that it comes from, and its name there. */
  readonly source: readonly [module: string, factory: string];
  readonly peer?: string;
}

const ROUNDS = 15;

const subjects: readonly Subject[] = [
  {
    create: tiktokenCounter,
    source: ["@holdfast/compaction", "tiktokenCounter"],
    peer: "tiktoken",
  },
  {
    create: gptTokenizerCounter,
    source: ["@holdfast/compaction", "gptTokenizerCounter"],
    peer: "gpt-tokenizer",
  },
  { create: characterEstimate, source: ["@holdfast/core", "characterEstimate"] },
];

/** Measures the three counters on the same text of English, code and JSON; the first is `tiktoken`. */
export function measureTokens(): TokenMeasurement[] {
  const text = sampleText();
  const counters = subjects.map(({ create }) => create());
  const exact = (counters[0] as TokenCounter).countText(text);
  const times = counters.map((): number[] => []);
  // In turns, as other work on the machine comes and goes. Another text each time: the last one is remembered.
  for (let round = 0; round < ROUNDS; round++)
    for (const [index, counter] of counters.entries())
      times[index]?.push(timed(() => counter.countText(`${text}${round}`)));
  return subjects.map(({ source, peer }, index) => {
    const counter = counters[index] as TokenCounter;
    const cold = measureCold(source, text);
    return {
      counter: counter.id,
      error: counter.countText(text) / exact - 1,
      coldSpeed: exact / cold.countMs / 1_000,
      warmSpeed: exact / Math.min(...(times[index] as number[])) / 1_000,
      loadMs: cold.loadMs,
      memoryBytes: cold.memoryBytes,
      installedBytes: peer === undefined ? 0 : bytesIn(packageFolder(peer)),
    };
  });
}

/** The measurements as lines, each with its ratio to `tiktoken`. */
export function tokenLines(results: readonly TokenMeasurement[]): string[] {
  const base = results[0] as TokenMeasurement;
  const ratio = (of: (each: TokenMeasurement) => number, each: TokenMeasurement) =>
    `${(of(each) / of(base)).toFixed(2)} x`;
  return results.map((each) =>
    [
      each.counter.padEnd(26),
      `warm ${each.warmSpeed.toFixed(2)} Mtok/s (${ratio((one) => one.warmSpeed, each)})`,
      `cold ${each.coldSpeed.toFixed(2)} (${ratio((one) => one.coldSpeed, each)})`,
      `load ${each.loadMs.toFixed(0)} ms (${ratio((one) => one.loadMs, each)})`,
      `memory ${mebibytes(each.memoryBytes)}, installed ${mebibytes(each.installedBytes)}`,
      `error ${(100 * each.error).toFixed(1)} %`,
    ].join(", "),
  );
}

/** Some 300 kB of this repository: a third each of prose, TypeScript, and JSON in both layouts. */
function sampleText(): string {
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  const share = (text: string) => text.slice(0, 100_000);
  const read = (folder: string, suffix: string) =>
    filesIn(join(root, folder))
      .filter((path) => path.endsWith(suffix) && !path.includes("node_modules"))
      .map((path) => readFileSync(path, "utf8"))
      .join("\n");
  const prose = `${readFileSync(join(root, "README.md"), "utf8")}\n${read("docs", ".md")}`;
  const code = read("packages/core/src", ".ts");
  const rows = code.split("\n").map((line, row) => ({ row, length: line.length, line }));
  const json = JSON.stringify(rows.slice(0, 700)) + JSON.stringify(rows.slice(700, 1_400), null, 2);
  return [prose, code, json].map(share).join("\n");
}

/** Loads and counts in a new process, where nothing is compiled or remembered yet. */
function measureCold([module, factory]: Subject["source"], text: string): Cold {
  const script = `
    import { readFileSync } from "node:fs";
    const text = readFileSync(0, "utf8");
    const before = process.memoryUsage().rss;
    const start = performance.now();
    const counter = (await import(${JSON.stringify(module)}))[${JSON.stringify(factory)}]();
    const loaded = performance.now();
    counter.countText(text);
    const counted = performance.now();
    const memoryBytes = process.memoryUsage().rss - before;
    console.log(JSON.stringify({ loadMs: loaded - start, countMs: counted - loaded, memoryBytes }));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    input: text,
    encoding: "utf8",
  });
  return JSON.parse(output) as Cold;
}

function timed(run: () => void): number {
  const began = performance.now();
  run();
  return performance.now() - began;
}

function packageFolder(name: string): string {
  let folder = dirname(createRequire(import.meta.url).resolve(name));
  while (!readdirSync(folder).includes("README.md")) folder = dirname(folder);
  return folder;
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function bytesIn(folder: string): number {
  return filesIn(folder).reduce((total, path) => total + statSync(path).size, 0);
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
