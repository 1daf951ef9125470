import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { SourceMap } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
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
  /** `package/folder/name.ts`, below the package's `src`. */
  readonly name: string;
  readonly lines: number;
  /** True when the call waited in it: one of its functions that ran is async. */
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
      console.log(`  ${name.slice(owner.length + 1)}  ${lines}`);
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
  const stops = new Map<string, boolean>();
  for (const { url, functions } of result) {
    const [, owner] = /\/packages\/([^/]+)\/dist\//.exec(url) ?? [];
    if (owner === undefined || owner === "testing") continue;
    const bundle = readBundle(fileURLToPath(url));
    for (const {
      ranges: [range],
    } of functions) {
      // What begins with the file is the module itself.
      if (!range?.count || range.startOffset === 0) continue;
      const source = bundle.sourceAt(range.startOffset);
      if (source === undefined) continue;
      const isAsync = bundle.text.startsWith("async", range.startOffset);
      stops.set(source, isAsync || (stops.get(source) ?? false));
    }
  }
  return [...stops].map(([source, isStop]) => ({
    name: /\/packages\/(.+)$/.exec(source)?.[1]?.replace("/src/", "/") ?? source,
    lines: readFileSync(source, "utf8").split("\n").length,
    isStop,
  }));
}

/** A bundled file, with the source file of each of its positions. */
interface Bundle {
  readonly text: string;
  sourceAt(offset: number): string | undefined;
}

function readBundle(file: string): Bundle {
  const text = readFileSync(file, "utf8");
  const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, "utf8")));
  const lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return {
    text,
    sourceAt(offset) {
      const line = lineStarts.findLastIndex((start) => start <= offset);
      const entry = map.findEntry(line, offset - (lineStarts[line] ?? 0));
      return "originalSource" in entry ? join(dirname(file), entry.originalSource) : undefined;
    },
  };
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
