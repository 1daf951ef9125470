import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDirectory } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";
import { writeProject } from "../src/write-project.js";

const files = new Map([
  ["package.json", "{}"],
  ["src/main.ts", "export {};"],
]);

async function place(): Promise<string> {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  return directory.path;
}

test("a project is written into a directory that is not there, below others that are not", async () => {
  const parent = await place();
  await writeProject(join(parent, "a/b/project"), files);
  expect(readFileSync(join(parent, "a/b/project/src/main.ts"), "utf8")).toBe("export {};");
  expect(readdirSync(join(parent, "a/b"))).toEqual(["project"]);
});

test("a project is written into an empty directory, and into one with .git alone, which stays", async () => {
  const target = await place();
  mkdirSync(join(target, ".git"));
  writeFileSync(join(target, ".git/HEAD"), "ref");
  await writeProject(target, files);
  expect(readdirSync(target).sort()).toEqual([".git", "package.json", "src"]);
  expect(readFileSync(join(target, ".git/HEAD"), "utf8")).toBe("ref");
});

test("a directory with anything else is refused by the names of what it has", async () => {
  const target = await place();
  for (const name of ["a", "b", "c", "d", "e", "f", "g"]) writeFileSync(join(target, name), "");
  await expect(writeProject(target, files)).rejects.toMatchObject({
    exitCode: 3,
    message: `${target} is not empty: it has a, b, c, d, e and 2 more. Choose another directory, or empty it.`,
  });
  expect(readdirSync(target)).toHaveLength(7);
});

test("a file, and a place that cannot be written, are refused", async () => {
  const parent = await place();
  writeFileSync(join(parent, "file"), "");
  await expect(writeProject(join(parent, "file"), files)).rejects.toThrow("is a file");
  const below = writeProject(join(parent, "file/project"), files);
  await expect(below).rejects.toMatchObject({ name: "CreateError", exitCode: 3 });
});

test("one that is stopped half-way leaves nothing, neither files nor directories", async () => {
  const parent = await place();
  const inside = join(parent, "inside");
  mkdirSync(join(inside, ".git"), { recursive: true });
  for (const target of ["a/b/project", "inside"]) {
    const stop = new AbortController();
    const halfway = function* (): Generator<[string, string]> {
      yield* [...files].slice(0, 1);
      stop.abort();
      yield* [...files].slice(1);
    };
    await expect(writeProject(join(parent, target), halfway(), stop.signal)).rejects.toThrow();
  }
  expect(readdirSync(parent)).toEqual(["inside"]);
  expect(readdirSync(inside)).toEqual([".git"]);
});

test("one whose files cannot all be written leaves nothing", async () => {
  const parent = await place();
  const impossible = new Map([...files, ["package.json/inside", ""]]);
  const written = writeProject(join(parent, "project"), impossible);
  await expect(written).rejects.toMatchObject({ exitCode: 3 });
  expect(readdirSync(parent)).toEqual([]);
});
