import { mkdir, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InvalidInputError } from "@holdfast/core";
import { tempDirectory } from "@holdfast/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { LocalFilesystem, SharedDirectory } from "../../src/filesystem/index.js";
import { clockTick } from "./clock-tick.js";
import { bytesOf, mine, textOf } from "./sample-files.js";

/** Lets every change so far be one of long ago; the times of files go by the system's clock, which stays as it is. */
function later(): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
}

afterEach(() => {
  vi.useRealTimers();
});

async function put(root: string, path: string, text: string): Promise<void> {
  await mkdir(join(root, path, ".."), { recursive: true });
  await writeFile(join(root, path), text);
}

const paths = (list: readonly { readonly path: string }[]) => list.map(({ path }) => path);

describe("AGENTS.md", () => {
  test("is the same object while it does not change, and nothing is nothing until it is there", async () => {
    await using directory = await tempDirectory();
    const shared = new SharedDirectory({ root: directory.path });
    expect(await shared.read("AGENTS.md")).toBeNull();
    await put(directory.path, "AGENTS.md", "one");
    later();
    const first = await shared.read("AGENTS.md");
    expect(textOf(first)).toBe("one");
    expect(await shared.read("AGENTS.md")).toBe(first);
    await rm(join(directory.path, "AGENTS.md"));
    expect(await shared.read("AGENTS.md")).toBeNull();
  });

  test("edited in place to the same size is seen, also with the same time put on it", async () => {
    await using directory = await tempDirectory();
    const shared = new SharedDirectory({ root: directory.path });
    const file = join(directory.path, "AGENTS.md");
    const old = new Date("2026-01-01");
    await put(directory.path, "AGENTS.md", "one");
    later();
    for (const word of ["one", "two", "six", "ten"]) {
      await clockTick(directory.path);
      await writeFile(file, word);
      if (word === "six" || word === "ten") await utimes(file, old, old);
      expect(textOf(await shared.read("AGENTS.md"))).toBe(word);
    }
  });

  test("edited again and again within a tick of the clock is never missed", async () => {
    await using directory = await tempDirectory();
    const shared = new SharedDirectory({ root: directory.path });
    for (let round = 100; round < 400; round++) {
      await writeFile(join(directory.path, "AGENTS.md"), `edit ${round}`);
      expect(textOf(await shared.read("AGENTS.md"))).toBe(`edit ${round}`);
    }
  });

  test("replaced by a link, or made unreadable by a directory in its place, is not served from memory", async () => {
    await using directory = await tempDirectory();
    const shared = new SharedDirectory({ root: directory.path });
    const file = join(directory.path, "AGENTS.md");
    await put(directory.path, "AGENTS.md", "one");
    later();
    await shared.read("AGENTS.md");
    await rename(file, join(directory.path, "moved.md"));
    await symlink("moved.md", file);
    await expect(shared.read("AGENTS.md")).rejects.toSatisfy(InvalidInputError.is);
    await rm(file);
    await mkdir(file);
    expect(await shared.read("AGENTS.md")).toBeNull();
  });
});

describe("a list", () => {
  test("is the same frozen object until an entry comes, goes or is edited, at any depth", async () => {
    await using directory = await tempDirectory();
    const { path: root } = directory;
    const shared = new SharedDirectory({ root });
    expect(await shared.list("knowledge")).toEqual([]);
    await put(root, "knowledge/deep/a.md", "aaa");
    await put(root, "knowledge/b.md", "bbb");
    later();
    const settled = async (change: () => Promise<unknown>, expected: readonly string[]) => {
      const before = await shared.list("knowledge");
      expect(await shared.list("knowledge")).toBe(before);
      expect(Object.isFrozen(before)).toBe(true);
      await clockTick(root);
      await change();
      const after = await shared.list("knowledge");
      expect(after).not.toBe(before);
      expect(paths(after)).toEqual(expected);
    };
    const three = ["knowledge/b.md", "knowledge/deep", "knowledge/deep/a.md"];
    await settled(() => writeFile(join(root, "knowledge/deep/a.md"), "xxx"), three);
    const four = [...three, "knowledge/deep/c.md"];
    await settled(() => put(root, "knowledge/deep/c.md", "ccc"), four);
    await settled(() => rm(join(root, "knowledge/deep/c.md")), three);
    await settled(() => rm(join(root, "knowledge/deep"), { recursive: true }), ["knowledge/b.md"]);
    await settled(() => rm(join(root, "knowledge"), { recursive: true }), []);
  });

  test("of a directory whose place a link takes is refused", async () => {
    await using directory = await tempDirectory();
    const { path: root } = directory;
    const shared = new SharedDirectory({ root });
    await put(root, "skills/a/SKILL.md", "a");
    later();
    expect(paths(await shared.list("skills"))).toEqual(["skills/a", "skills/a/SKILL.md"]);
    await rename(join(root, "skills"), join(root, "elsewhere"));
    await symlink("elsewhere", join(root, "skills"));
    await expect(shared.list("skills")).rejects.toSatisfy(InvalidInputError.is);
  });

  test("changed by files of the last seconds is made anew each time", async () => {
    await using directory = await tempDirectory();
    const shared = new SharedDirectory({ root: directory.path });
    await put(directory.path, "knowledge/a.md", "a");
    expect(await shared.list("knowledge")).not.toBe(await shared.list("knowledge"));
  });
});

describe("a user's file", () => {
  test("is the same object until any process changes it", async () => {
    await using directory = await tempDirectory();
    const files = new LocalFilesystem({ root: directory.path });
    const other = new LocalFilesystem({ root: directory.path });
    expect(await files.readCached(mine, "MEMORY.md")).toBeNull();
    await files.write(mine, "MEMORY.md", bytesOf("one"));
    later();
    const first = await files.readCached(mine, "MEMORY.md");
    expect(textOf(first)).toBe("one");
    expect(await files.readCached(mine, "MEMORY.md")).toBe(first);
    await other.write(mine, "MEMORY.md", bytesOf("two"));
    expect(textOf(await files.readCached(mine, "MEMORY.md"))).toBe("two");
    await other.delete(mine, "MEMORY.md");
    expect(await files.readCached(mine, "MEMORY.md")).toBeNull();
  });

  test("is refused once a link stands on the way to it, though the file is the same", async () => {
    await using directory = await tempDirectory();
    const files = new LocalFilesystem({ root: directory.path });
    await files.write(mine, "MEMORY.md", bytesOf("one"));
    later();
    await files.readCached(mine, "MEMORY.md");
    const home = join(directory.path, "users", "user");
    await rename(home, join(directory.path, "elsewhere"));
    await symlink(join(directory.path, "elsewhere"), home);
    await expect(files.readCached(mine, "MEMORY.md")).rejects.toSatisfy(InvalidInputError.is);
  });

  test("that is large is read each time", async () => {
    await using directory = await tempDirectory();
    const files = new LocalFilesystem({ root: directory.path });
    await files.write(mine, "MEMORY.md", new Uint8Array(65_537));
    later();
    const first = await files.readCached(mine, "MEMORY.md");
    expect((await files.readCached(mine, "MEMORY.md")) === first).toBe(false);
  });
});
