import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { lowerQuartile } from "../measure/statistics.js";
import { installPeer } from "../peers/install-peer.js";

/** A module to import in a new process, and the directory it is found from. */
interface Subject {
  readonly module: string;
  readonly directory: string;
}

const here = fileURLToPath(new URL("../..", import.meta.url));
const ownModules = ["@holdfast/core", "@holdfast/harness"];

/** Package to compare with, which is installed for the run. */
const peer = { module: "ai", packages: ["ai@7.0.170", "zod@4.6.7"] };

/** Prints the time that importing a module takes in a new process, each with its ratio to the peer's. */
export async function measureImports(rounds: number, print: (line: string) => void): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-imports-"));
  try {
    await installPeer(peer, directory);
    const subjects = [
      { module: peer.module, directory },
      ...ownModules.map((module) => ({ module, directory: here })),
    ];
    const times = subjects.map((): number[] => []);
    // In turns, as other work on the machine comes and goes; the first round warms the file cache.
    for (let round = 0; round <= rounds; round++)
      for (const [index, subject] of subjects.entries()) {
        const ms = await importTime(subject);
        if (round > 0) times[index]?.push(ms);
      }
    const [base = Number.NaN, ...own] = times.map(lowerQuartile);
    print(`Importing ${peer.packages[0]} in a new process: ${base.toFixed(0)} ms`);
    for (const [index, ms] of own.entries())
      print(`Importing ${ownModules[index]}: ${ms.toFixed(0)} ms, ${(ms / base).toFixed(2)} x`);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function importTime({ module, directory }: Subject): Promise<number> {
  const script = `const began = performance.now();
    await import(${JSON.stringify(module)});
    console.log(performance.now() - began);`;
  const args = ["--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: directory });
  return Number(stdout);
}
