import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InvalidInputError } from "@holdfast/core";
import { tempDirectory } from "@holdfast/testing";
import { expect, test } from "vitest";
import { LocalFilesystem, SharedDirectory } from "../../src/filesystem/index.js";
import { bytesOf, listed, mine, textOf } from "./sample-files.js";

async function fill(root: string): Promise<void> {
  for (const name of ["knowledge/deep", "skills/one", "subagents", "secrets", "users/user"])
    await mkdir(join(root, name), { recursive: true });
  const files = ["AGENTS.md", "knowledge/deep/a.md", "skills/one/SKILL.md", "subagents/b.md"];
  for (const name of [...files, "secrets/key", "other.md", "users/user/own.md"])
    await writeFile(join(root, name), `content of ${name}`);
}

test("AGENTS.md, knowledge, skills and subagents are shared, and nothing else of the directory", async () => {
  await using directory = await tempDirectory();
  await fill(directory.path);
  const { shared } = new LocalFilesystem({ root: directory.path });
  const paths = (await shared.list()).map(({ path }) => path);
  expect(paths).toEqual([
    "AGENTS.md",
    "knowledge",
    "knowledge/deep",
    "knowledge/deep/a.md",
    "skills",
    "skills/one",
    "skills/one/SKILL.md",
    "subagents",
    "subagents/b.md",
  ]);
  expect((await shared.list("skills/")).map(({ path }) => path)).toEqual([
    "skills/one",
    "skills/one/SKILL.md",
  ]);
  expect(textOf(await shared.read("AGENTS.md"))).toBe("content of AGENTS.md");
  expect(textOf(await shared.read("./knowledge//deep/a.md"))).toBe(
    "content of knowledge/deep/a.md",
  );
  for (const path of [
    "secrets/key",
    "other.md",
    "users/user/own.md",
    "AGENTS.md/x",
    "knowledge.md",
  ])
    expect(await shared.read(path), path).toBeNull();
  for (const path of ["secrets", "users", "sessions", "AGENTS.md"])
    expect(await shared.list(path), path).toEqual([]);
});

test("paths that leave the shared files are refused", async () => {
  await using directory = await tempDirectory();
  await fill(directory.path);
  const shared = new SharedDirectory({ root: directory.path });
  for (const path of ["knowledge/../users/user/own.md", "../x", "/etc/passwd", "skills/.."]) {
    await expect(shared.read(path)).rejects.toSatisfy(InvalidInputError.is);
    await expect(shared.list(path)).rejects.toSatisfy(InvalidInputError.is);
  }
});

test("links among the shared files are refused when read and left out of listings", async () => {
  await using directory = await tempDirectory();
  const root = join(directory.path, "root");
  await fill(root);
  await mkdir(join(directory.path, "outside"));
  await writeFile(join(directory.path, "outside/a.md"), "secret");
  await symlink(join(directory.path, "outside"), join(root, "knowledge/out"));
  await symlink("../users/user/own.md", join(root, "skills/own.md"));
  const shared = new SharedDirectory({ root });
  for (const path of ["knowledge/out/a.md", "skills/own.md"])
    await expect(shared.read(path)).rejects.toSatisfy(InvalidInputError.is);
  await expect(shared.list("knowledge/out")).rejects.toSatisfy(InvalidInputError.is);
  const paths = (await shared.list()).map(({ path }) => path);
  expect(paths.filter((path) => /out|own/.test(path))).toEqual([]);
});

test("shared files do not show among a user's, and a user's AGENTS.md is no shared one", async () => {
  await using directory = await tempDirectory();
  await fill(directory.path);
  const files = new LocalFilesystem({ root: directory.path });
  expect(await listed(files)).toEqual(["own.md"]);
  await files.write(mine, "AGENTS.md", bytesOf("mine"));
  expect(textOf(await files.shared.read("AGENTS.md"))).toBe("content of AGENTS.md");
});
