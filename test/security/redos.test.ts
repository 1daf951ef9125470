import { ReActAgent, type ReActAgentOptions } from "@holdfast/core";
import { MemoryFiles, memoryFlush } from "@holdfast/memory-flush";
import { sessionTools } from "@holdfast/session-tools";
import { scaled, scriptedModel } from "@holdfast/testing";
import { LocalFilesystem, workspace } from "@holdfast/workspace";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { report, slow } from "./corpus.js";
import { directoryFor, placeOf, sharedStores } from "./every-place.js";
import { type Redos, redosPatterns } from "./redos-patterns.js";

const ctx = { userId: "u", sessionId: "s" };
const whose = { agentId: "a", ...ctx };
// Every ninth is of each sort: exponential, polynomial and huge.
const patterns = redosPatterns.filter((_, index) => index % scaled(9, 1) === 0);

/** Letters on which the control takes its time; one more doubles it. */
let controlLetters = 18;
/** Milliseconds that a backtracking engine blocks this process on those few letters. */
let controlMs = 0;

beforeAll(() => {
  while (controlMs < 500) {
    const text = `${"a".repeat(++controlLetters)}!`;
    const began = performance.now();
    /^(a+)+$/.test(text);
    controlMs = performance.now() - began;
  }
});

/** Letters that each of the patterns hangs on elsewhere, if there are some thirty of them. */
const letters = scaled(20_000, 100_000);

function pumped({ pump, tail }: Redos): string {
  return pump.repeat(Math.ceil(letters / pump.length)) + tail;
}

/** Longest time for which nothing else of this process could run during `work`. */
async function longestBlockMs(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  await work();
  clearInterval(timer);
  return Math.max(longest, performance.now() - last);
}

/** A pattern that blocks does so every time; a busy machine does not. */
async function leastBlockMs(work: () => Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3 && least >= controlMs / 10; round++)
    least = Math.min(least, await longestBlockMs(work));
  return least;
}

/** An agent that uses the tool it is told to use, and the answer of that tool. */
function toolUser(options: Partial<ReActAgentOptions>) {
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1);
    const [block] = last?.content ?? [];
    if (last?.role !== "user" || block?.type !== "text" || !block.text.startsWith("{"))
      return "done";
    return { toolCalls: [JSON.parse(block.text)] };
  });
  const agent = new ReActAgent({ name: "a", model, ...options });
  onTestFinished(() => agent.close());
  const use = async (name: string, input: object): Promise<"result" | "error"> => {
    const results: string[] = [];
    for await (const event of agent.stream(JSON.stringify({ name, input }), ctx))
      if (event.type === "tool_result") results.push(event.state);
    expect(results).toHaveLength(1);
    expect(results[0]).toMatch(/^(success|error)$/);
    return results[0] === "success" ? "result" : "error";
  };
  return { agent, use };
}

/** Runs every pattern, and reports how they ended. */
async function tryAll(
  attempt: (redos: Redos) => Promise<"result" | "error">,
): Promise<Record<string, number | string>> {
  const counts = { result: 0, error: 0 };
  let longest = 0;
  for (const redos of patterns) {
    let outcome: "result" | "error" = "error";
    const blockMs = await leastBlockMs(async () => {
      outcome = await attempt(redos);
    });
    counts[outcome]++;
    expect(
      blockMs,
      `${redos.pattern} blocks longer than ${controlLetters} letters elsewhere`,
    ).toBeLessThan(controlMs);
    longest = Math.max(longest, blockMs);
  }
  return {
    patterns: `${patterns.length} on ${letters} letters`,
    "answered / refused": `${counts.result} / ${counts.error}`,
    "longest block, control": `${Math.round(longest)} ms, ${Math.round(controlMs)} ms on ${controlLetters} letters`,
  };
}

test.for(sharedStores)(
  "%s: session_search lets other work go on, whatever the pattern",
  slow,
  async (kind, context) => {
    const { stateStore } = (await placeOf(kind)).open();
    const { agent, use } = toolUser({ stateStore, plugins: [sessionTools()] });
    const texts = new Set(patterns.map(pumped));
    for (const text of texts) await agent.call(text, { ...ctx, sessionId: "texts" });
    const figures = await tryAll(async ({ pattern }) => {
      await use("session_search", { query: pattern });
      return use("session_search", { query: pattern, regex: true });
    });
    report(context, figures);
  },
);

test(
  "grep_files, glob_files and edit_file let other work go on, whatever the pattern",
  slow,
  async (context) => {
    const filesystem = new LocalFilesystem({ root: await directoryFor("root") });
    const { use } = toolUser({ plugins: [workspace({ filesystem })] });
    for (const [index, text] of [...new Set(patterns.map(pumped))].entries())
      await filesystem.write(whose, `files/${index}.txt`, Buffer.from(text));
    for (let index = 0; index < 200; index++)
      await filesystem.write(
        whose,
        `${"a".repeat(150)}${index}/${"ab".repeat(70)}!`,
        Buffer.from(""),
      );
    const figures = await tryAll(async ({ pattern }) => {
      await use("grep_files", { pattern });
      await use("grep_files", { pattern: "x", glob: pattern });
      await use("glob_files", { pattern });
      await use("glob_files", { pattern: `${"*a".repeat(60)}*b` });
      await use("glob_files", { pattern: `${"**/".repeat(60)}*a*a*a*b` });
      await use("glob_files", { pattern: `{${"a,".repeat(60)}b}`.repeat(5) });
      await use("edit_file", { path: "files/0.txt", old_string: pattern, new_string: "x" });
      return use("grep_files", { pattern, regex: true });
    });
    report(context, figures);
  },
);

test("memory_search lets other work go on, whatever is looked for", slow, async (context) => {
  const filesystem = new LocalFilesystem({ root: await directoryFor("root") });
  const memory = new MemoryFiles(filesystem);
  await memory.writeMemory(whose, `# Memory\n- ${"a".repeat(15_000)}!`);
  const { use } = toolUser({
    plugins: [workspace({ filesystem }), memoryFlush({ flushTrigger: "never" })],
  });
  report(context, await tryAll(({ pattern }) => use("memory_search", { query: pattern })));
});
