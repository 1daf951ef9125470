import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Filesystem, InMemoryKeyValueStore } from "@holdfast/core";
import { tempDirectory } from "@holdfast/testing";
import { LocalFilesystem, RemoteFilesystem } from "@holdfast/workspace";
import { expect, test } from "vitest";
import { SharingFilesystem, toolBench } from "./tool-bench.js";

const shared = {
  "AGENTS.md": "Be brief.",
  "knowledge/tea.md": "# Tea\nleaf",
  "skills/brew/SKILL.md": "---\ndescription: Tea\n---\nBoil the leaf.",
};

const calls: [tool: string, input: object][] = [
  ["list_files", {}],
  ["write_file", { path: "notes/a.md", content: "one leaf\r\ntwo\n" }],
  ["write_file", { path: "notes/deep/b.txt", content: "three" }],
  ["write_file", { path: "notes", content: "x" }],
  ["write_file", { path: "notes/a.md/c", content: "x" }],
  ["write_file", { path: "AGENTS.md", content: "x" }],
  ["edit_file", { path: "notes/a.md", old_string: "two", new_string: "2 $&" }],
  ["edit_file", { path: "notes/a.md", old_string: "two", new_string: "2" }],
  ["edit_file", { path: "notes", old_string: "two", new_string: "2" }],
  ["read_file", { path: "notes/a.md" }],
  ["read_file", { path: "knowledge/tea.md" }],
  ["read_file", { path: "notes" }],
  ["read_file", { path: "notes/a.md/c" }],
  ["read_file", { path: "none" }],
  ["list_files", {}],
  ["list_files", { path: "notes" }],
  ["list_files", { path: "notes/a.md" }],
  ["list_files", { path: "none/at/all" }],
  ["glob_files", { pattern: "**/*.{md,txt}" }],
  ["glob_files", { pattern: "*", path: "notes/a.md" }],
  ["grep_files", { pattern: "leaf" }],
  ["grep_files", { pattern: "l(e|x)af$", regex: true, path: "knowledge" }],
  ["grep_files", { pattern: "leaf", path: "notes/a.md" }],
  ["read_file", { path: "../ada/notes/a.md" }],
];

test("tools answer the same on files in memory, in a directory and in a key-value store", async () => {
  await using directory = await tempDirectory();
  const memory = new SharingFilesystem();
  for (const [path, content] of Object.entries(shared)) {
    await memory.share(path, content);
    await mkdir(dirname(join(directory.path, path)), { recursive: true });
    await writeFile(join(directory.path, path), content);
  }
  const answers = async (filesystem: Filesystem) => {
    const bench = toolBench({ filesystem });
    const given = [];
    for (const [tool, input] of calls) {
      const { text, isError } = await bench.use(tool, input);
      // Refusals are each filesystem's own words.
      given.push([tool, input, isError, isError ? "" : text]);
    }
    return given;
  };
  const local = await answers(new LocalFilesystem({ root: directory.path }));
  expect(local).toEqual(await answers(memory));
  const keyValue = new InMemoryKeyValueStore();
  expect(local).toEqual(await answers(new RemoteFilesystem({ keyValue, shared: memory.shared })));
  expect(local.filter(([, , isError]) => isError)).toHaveLength(10);
});
