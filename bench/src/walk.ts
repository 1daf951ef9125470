import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tool } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { scriptedModel } from "@holdfast/testing";
import { privateRedis } from "@holdfast/testing/servers";
import { Redis } from "ioredis";
import { z } from "zod";

/** A file that ran during the call. */
interface VisitedFile {
  /** `package/folder/name.js`, below the package's `dist`. */
  readonly name: string;
  readonly lines: number;
  /** Whether the call waited in it: one of its functions that ran is async. */
  readonly isStop: boolean;
}

/**
 * Traces one call of a harness agent with a tool, warm, on Redis, and prints the files on its way.
 *
 * A reader follows a call from one `await` to the next, so the way is every file in which an async function ran; what
 * answers at once can be read later, by its name. Files that only ran are counted, not listed.
 */
async function walk(): Promise<void> {
  const files = await visitedFiles();
  const stops = files.filter(({ isStop }) => isStop);
  for (const [owner, ofOwner] of grouped(stops)) {
    console.log(`\n${owner}`);
    for (const { name, lines } of ofOwner)
      console.log(`  ${name.slice(owner.length + 1).replace(/\.js$/, ".ts")}  ${lines}`);
  }
  const lines = stops.reduce((sum, file) => sum + file.lines, 0);
  console.log(
    `\n${stops.length} files on the way of the call, ${lines} lines; ${files.length} files ran`,
  );
}

async function visitedFiles(): Promise<VisitedFile[]> {
  const server = await privateRedis();
  const client = new Redis(server.url);
  const workspace = mkdtempSync(join(tmpdir(), "holdfast-walk-"));
  const weather = tool({
    name: "weather",
    description: "Tells the weather in a city.",
    input: z.object({ city: z.string() }),
    execute: ({ city }) => `rain in ${city}`,
  });
  const lookUp = { toolCalls: [{ name: "weather", input: { city: "Oslo" } }] };
  const agent = HarnessAgent.builder()
    .name("walk")
    .model(scriptedModel((_, index) => (index % 2 === 0 ? lookUp : "It rains.")))
    .tools(weather)
    .distributedStore(RedisDistributedStore.from(client))
    .workspace(workspace)
    .build();
  try {
    const ctx = { userId: "reader", sessionId: "walk" };
    await agent.call("first", ctx);
    await agent.call("second", ctx);
    return await ranDuring(() => agent.call("third", ctx));
  } finally {
    await agent.close();
    client.disconnect();
    await server.stop();
    rmSync(workspace, { recursive: true });
  }
}

async function ranDuring(work: () => Promise<unknown>): Promise<VisitedFile[]> {
  const inspector = new Session();
  inspector.connect();
  await inspector.post("Profiler.enable");
  await inspector.post("Profiler.startPreciseCoverage", { callCount: true });
  await inspector.post("Profiler.takePreciseCoverage");
  await work();
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  inspector.disconnect();
  return result.flatMap(({ url, functions }) => {
    const [, owner, path] = /\/packages\/([^/]+)\/dist\/(.+)$/.exec(url) ?? [];
    const ran = functions.flatMap(({ ranges: [range] }) =>
      range && range.count > 0 ? [range] : [],
    );
    if (owner === undefined || owner === "testing" || ran.length === 0) return [];
    const source = readFileSync(fileURLToPath(url), "utf8");
    const isStop = ran.some(({ startOffset }) => /^async\b/.test(source.slice(startOffset)));
    return [{ name: `${owner}/${path}`, lines: source.split("\n").length, isStop }];
  });
}

function ownerOf({ name }: VisitedFile): string {
  return name.slice(0, name.indexOf("/"));
}

function grouped(files: readonly VisitedFile[]): Map<string, VisitedFile[]> {
  const groups = new Map<string, VisitedFile[]>();
  for (const file of files) groups.set(ownerOf(file), [...(groups.get(ownerOf(file)) ?? []), file]);
  return groups;
}

await walk();
