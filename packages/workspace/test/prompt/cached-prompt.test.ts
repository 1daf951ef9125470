import { mkdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  AgentState,
  characterEstimate,
  type Filesystem,
  InMemoryKeyValueStore,
  RuntimeContext,
} from "@holdfast/core";
import { scaled, tempDirectory } from "@holdfast/testing";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { LocalFilesystem, RemoteFilesystem, SharedDirectory } from "../../src/filesystem/index.js";
import { WorkspacePrompt } from "../../src/prompt/workspace-prompt.js";
import { clockTick } from "../filesystem/clock-tick.js";

const ann = { agentId: "agent", userId: "ann", sessionId: "s" };
const old = new Date("2026-01-01");
const bob = { ...ann, userId: "bob" };

function promptOf(filesystem: Filesystem) {
  const prompt = new WorkspacePrompt({
    ...{ filesystem, maxTokens: 4_000, hasTools: true, skills: [] },
    ...{ activeGroups: [], readOnlyNames: ["AGENTS.md"], counter: characterEstimate },
  });
  return async (slot: typeof ann) => {
    await prompt.prefetch({ slot });
    const step = { slot, ctx: RuntimeContext.of(slot), state: AgentState.create(slot) };
    return prompt.append("Base.", step);
  };
}

const whole = ["AGENTS.md", "users/ann/MEMORY.md", "users/bob/MEMORY.md"];
const listed = ["knowledge/a.md", "knowledge/deep/b.md", "skills/one/SKILL.md"];
const word = fc.integer({ min: 0, max: 9 });
const anyEdit = fc.oneof(
  fc.record({
    kind: fc.constantFrom("write" as const, "replace" as const, "delete" as const),
    path: fc.constantFrom(...whole, ...listed),
    word,
  }),
  // Titles of listed files are kept by size and time.
  fc.record({
    kind: fc.constant("put a time on" as const),
    path: fc.constantFrom(...whole),
    word,
  }),
  fc.record({
    kind: fc.constant("delete" as const),
    path: fc.constantFrom("knowledge", "skills", "users/ann"),
    word,
  }),
);
type Edit = typeof anyEdit extends fc.Arbitrary<infer E> ? E : never;

/** All contents have one size. */
function contentOf(path: string, word: number): string {
  if (path.startsWith("skills/"))
    return `---\nname: skill-${word}\ndescription: Does ${word}.\n---\n`;
  return `# title ${word}\n`;
}

async function edit(root: string, { kind, path, word }: Edit): Promise<void> {
  const file = join(root, path);
  if (kind === "delete") return rm(file, { recursive: true, force: true });
  await mkdir(join(file, ".."), { recursive: true });
  if (kind === "write") return writeFile(file, contentOf(path, word));
  if (kind === "replace") {
    await writeFile(`${file}.new`, contentOf(path, word));
    return rename(`${file}.new`, file);
  }
  // In place, and with the same time put on it each time.
  await writeFile(file, contentOf(path, word));
  await utimes(file, old, old);
}

afterEach(() => {
  vi.useRealTimers();
});

describe("the text of a prompt that remembers", () => {
  test.each([
    ["too young to be kept", 0],
    ["of long ago", 3_600_000],
  ])("is that of one that reads everything, after any edits of files %s", async (_, ahead) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyEdit, { maxLength: 12 }), async (edits) => {
        await using directory = await tempDirectory();
        const { path: root } = directory;
        vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ahead });
        const remembered = promptOf(new LocalFilesystem({ root }));
        for (const each of edits) {
          if (ahead > 0) await clockTick(root);
          await edit(root, each);
          for (const slot of [ann, bob]) {
            const text = await remembered(slot);
            expect(text).toBe(await promptOf(new LocalFilesystem({ root }))(slot));
            expect(await remembered(slot)).toBe(text);
          }
        }
        vi.useRealTimers();
      }),
      { numRuns: scaled(20, 1_000) },
    );
  });

  test("is that of one that reads everything, when the users' files are in a store", async () => {
    await using directory = await tempDirectory();
    const keyValue = new InMemoryKeyValueStore();
    const node = () =>
      new RemoteFilesystem({ keyValue, shared: new SharedDirectory({ root: directory.path }) });
    const [here, there] = [node(), node()];
    const remembered = promptOf(here);
    const anyWrite = fc.record({
      files: fc.constantFrom(here, there),
      slot: fc.constantFrom(ann, bob),
      word: fc.option(fc.integer({ min: 0, max: 9 })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(anyWrite, { maxLength: 12 }), async (writes) => {
        for (const { files, slot, word } of writes) {
          if (word === null) await files.delete(slot, "MEMORY.md");
          else await files.write(slot, "MEMORY.md", new TextEncoder().encode(`note ${word}`));
          for (const whose of [ann, bob])
            expect(await remembered(whose)).toBe(await promptOf(node())(whose));
        }
      }),
      { numRuns: scaled(30, 2_000) },
    );
  });
});
