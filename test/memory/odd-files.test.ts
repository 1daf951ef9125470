import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AgentEvent, InMemoryAgentStateStore, textOf } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { MemoryFiles, memoryFlush } from "@holdfast/memory-flush";
import { eventually, scriptedModel, tempDirectory } from "@holdfast/testing";
import { LocalFilesystem } from "@holdfast/workspace";
import { expect, onTestFinished, test } from "vitest";

const whose = { agentId: "agent", userId: "u", sessionId: "s" };

/** An agent whose user's files can be spoilt from outside. */
async function agentWithFiles() {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  const files = new MemoryFiles(new LocalFilesystem({ root: directory.path }));
  await files.writeMemory(whose, "- to find the place\n");
  const events: AgentEvent[] = [];
  let time = Date.now();
  let facts = 0;
  const memoryModel = scriptedModel(({ messages }) => {
    const question = messages[0] ? textOf(messages[0]) : "";
    if (question.startsWith("Today is")) return `- fact-${facts++};`;
    return ["# Memory", ...new Set(question.match(/fact-\w+;/g))].join("\n- ");
  });
  const agent = HarnessAgent.create({
    ...{ name: "agent", model: scriptedModel(() => "Hello."), workspace: directory.path },
    stateStore: new InMemoryAgentStateStore(),
    clock: () => new Date(time),
    plugins: [memoryFlush({ model: memoryModel, flushTrigger: "always" })],
    onEvent: (event) => events.push(event),
  });
  onTestFinished(() => agent.close());
  const seen = (type: string, state = "") =>
    events.filter(
      (event) => event.type === type && (!state || ("state" in event && event.state === state)),
    ).length;
  return {
    files,
    home: join(directory.path, "users", "u"),
    /** Says something an hour later, and waits for the flush and the consolidation. */
    async say(state: "end" | "failed") {
      time += 3_600_000;
      const [flushes, consolidations] = [seen("memory_flush_end"), seen("consolidation", state)];
      await agent.call("Hello.", { userId: "u", sessionId: "s" });
      await eventually(() => seen("memory_flush_end") > flushes);
      await eventually(() => seen("consolidation", state) > consolidations);
    },
  };
}

const spoilers: readonly [string, (path: string) => Promise<void>][] = [
  ["a directory", (path) => mkdir(path).then(() => undefined)],
  ["a link to another file", (path) => symlink("/etc/hostname", path)],
  ["a link to nowhere", (path) => symlink("nowhere", path)],
  ["a link to itself", (path) => symlink("MEMORY.md", path)],
];

test.each(spoilers)(
  "a MEMORY.md that is %s keeps nobody from talking or noting, and is left alone until it is gone",
  async (_, spoil) => {
    const one = await agentWithFiles();
    await one.say("end");
    const path = join(one.home, "MEMORY.md");
    await rm(path);
    await spoil(path);
    await one.say("failed");
    await rm(path, { recursive: true });
    await one.say("end");
    // The failed one may still have been ending when an hour was over; then it was tried again before the last note.
    await one.say("end");
    const memory = await one.files.readMemory(whose);
    expect(memory).toContain("- fact-1;");
    expect(memory).toContain("- fact-2;");
  },
);

test("notes and a memory that are not UTF-8, or have no end of line, are merged all the same", async () => {
  const one = await agentWithFiles();
  const latin = new Uint8Array([0x2d, 0x20, 0xe9, 0xff, 0x20, ...Buffer.from("fact-latin;")]);
  await mkdir(join(one.home, "memory"), { recursive: true });
  await writeFile(join(one.home, "memory", "2020-01-01.md"), latin);
  await writeFile(join(one.home, "MEMORY.md"), new Uint8Array([...latin, 0x80, 0x0d, 0x0a]));
  await one.say("end");
  expect(await one.files.readMemory(whose)).toBe("# Memory\n- fact-latin;\n- fact-0;\n");
  const kept = await one.files.readBytes(whose, "memory/archive/MEMORY-previous.md");
  expect(kept?.length).toBe(latin.length + 3);
});

test.each(spoilers)(
  "a day's file that is %s keeps the notes of other days from nobody",
  async (_, spoil) => {
    const one = await agentWithFiles();
    await mkdir(join(one.home, "memory"), { recursive: true });
    await spoil(join(one.home, "memory", "2020-01-01.md"));
    await one.say("end");
    expect(await one.files.readMemory(whose)).toContain("- fact-0;");
  },
);
