import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { InvalidInputError } from "@holdfast/core";
import { tempDirectory } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { LocalFilesystem } from "../../src/filesystem/index.js";
import { DirectoryTree } from "../../src/filesystem/local/directory-tree.js";
import { directoryTreePath, fileTreePath } from "../../src/filesystem/local/tree-path.js";
import { bytesOf, mine } from "./sample-files.js";

interface Ground extends AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly outside: string;
}

/** A workspace with links of every kind in a user's directory, and something outside that must not be reached. */
async function ground(): Promise<Ground> {
  const directory = await tempDirectory();
  const root = join(directory.path, "root");
  const home = join(root, "users/user");
  const outside = join(directory.path, "outside");
  await mkdir(join(home, "real"), { recursive: true });
  await mkdir(outside);
  await writeFile(join(outside, "secret.txt"), "secret");
  await writeFile(join(home, "real/file.txt"), "inside");
  await symlink(outside, join(home, "absolute"));
  await symlink("../../../outside", join(home, "relative"));
  await symlink("real", join(home, "within"));
  await symlink(join(outside, "secret.txt"), join(home, "file"));
  await symlink("real/file.txt", join(home, "file-within"));
  await symlink(join(outside, "nothing"), join(home, "dangling"));
  await symlink("loop", join(home, "loop"));
  await symlink("/", join(home, "real/slash"));
  return { root, home, outside, [Symbol.asyncDispose]: directory.cleanup };
}

const throughLinks = [
  "absolute/secret.txt",
  "relative/secret.txt",
  "within/file.txt",
  "dangling/x",
  "loop/x",
  "real/slash/etc/passwd",
  "absolute/new.txt",
];
const links = ["file", "file-within", "dangling", "loop", "absolute"];
const top = ["users", "user"];

// Where the system has no /proc, paths are checked instead: the same refusals.
describe.each([
  ["by directory handles", undefined],
  ["by path", false],
])("links, looked up %s", (_, isAnchored) => {
  const treeOf = ({ root }: Ground) => new DirectoryTree({ root, isAnchored, maxFileBytes: 1_000 });

  test("a path through a link is refused by every operation, and nothing outside changes", async () => {
    await using here = await ground();
    const tree = treeOf(here);
    for (const path of throughLinks) {
      const target = fileTreePath(top, path);
      await expect(tree.read(target), path).rejects.toSatisfy(InvalidInputError.is);
      await expect(tree.write(target, bytesOf("x")), path).rejects.toSatisfy(InvalidInputError.is);
      await expect(tree.append(target, bytesOf("x")), path).rejects.toSatisfy(InvalidInputError.is);
      await expect(tree.delete(target), path).rejects.toSatisfy(InvalidInputError.is);
      await expect(tree.list(target), path).rejects.toSatisfy(InvalidInputError.is);
    }
    expect(await readdir(here.outside)).toEqual(["secret.txt"]);
    expect(await readFile(join(here.outside, "secret.txt"), "utf8")).toBe("secret");
  });

  test("a link is neither read nor written through, dangling ones included", async () => {
    await using here = await ground();
    const tree = treeOf(here);
    for (const path of links) {
      const target = fileTreePath(top, path);
      await expect(tree.read(target), path).rejects.toSatisfy(InvalidInputError.is);
      await expect(tree.write(target, bytesOf("x")), path).rejects.toSatisfy(InvalidInputError.is);
      await expect(tree.append(target, bytesOf("x")), path).rejects.toSatisfy(InvalidInputError.is);
      await expect(tree.list(target), path).rejects.toSatisfy(InvalidInputError.is);
    }
    expect(await readdir(here.outside)).toEqual(["secret.txt"]);
    expect(await readFile(join(here.outside, "secret.txt"), "utf8")).toBe("secret");
    expect(await readFile(join(here.home, "real/file.txt"), "utf8")).toBe("inside");
  });

  test("a listing shows no link and nothing behind one", async () => {
    await using here = await ground();
    const infos = await treeOf(here).list(directoryTreePath(top, ""));
    expect(infos.map(({ path }) => path)).toEqual(["real", "real/file.txt"]);
  });

  test("deleting a link removes the link, not what it points to", async () => {
    await using here = await ground();
    for (const path of links) expect(await treeOf(here).delete(fileTreePath(top, path))).toBe(true);
    expect(await readFile(join(here.outside, "secret.txt"), "utf8")).toBe("secret");
    expect(await readFile(join(here.home, "real/file.txt"), "utf8")).toBe("inside");
    expect((await readdir(here.home)).sort()).toEqual(["real", "relative", "within"]);
  });

  test("files are read, written, listed and deleted where there is no link", async () => {
    await using here = await ground();
    const tree = treeOf(here);
    const target = fileTreePath(top, "a/b.txt");
    await tree.write(target, bytesOf("one"));
    await tree.append(target, bytesOf(" two"));
    expect(Buffer.from((await tree.read(target)) ?? []).toString()).toBe("one two");
    expect((await tree.list(directoryTreePath(top, "a"))).map(({ path }) => path)).toEqual([
      "a/b.txt",
    ]);
    expect(await tree.delete(target)).toBe(true);
    expect(await readdir(here.home)).not.toContain("a");
  });
});

test("a link in target of a user's directory, or of all users', is refused", async () => {
  await using directory = await tempDirectory();
  const outside = join(directory.path, "outside");
  const root = join(directory.path, "root");
  await mkdir(join(outside, "user"), { recursive: true });
  await mkdir(join(root, "users"), { recursive: true });
  await writeFile(join(outside, "user/a"), "secret");
  const files = new LocalFilesystem({ root });
  await symlink(join(outside, "user"), join(root, "users/user"));
  await symlink(outside, join(root, "sessions"));
  for (const namespace of [mine, { ...mine, userId: null, sessionId: "user" }]) {
    await expect(files.read(namespace, "a")).rejects.toSatisfy(InvalidInputError.is);
    await expect(files.write(namespace, "b", bytesOf("x"))).rejects.toSatisfy(InvalidInputError.is);
    await expect(files.list(namespace)).rejects.toSatisfy(InvalidInputError.is);
    await expect(files.delete(namespace, "a")).rejects.toSatisfy(InvalidInputError.is);
  }
  expect(await readdir(join(outside, "user"))).toEqual(["a"]);
});

test("a root that is itself a link is the program's choice", async () => {
  await using directory = await tempDirectory();
  await mkdir(join(directory.path, "real"));
  await symlink("real", join(directory.path, "link"));
  const files = new LocalFilesystem({ root: join(directory.path, "link") });
  await files.write(mine, "a", bytesOf("x"));
  expect(await readFile(join(directory.path, "real/users/user/a"), "utf8")).toBe("x");
});

test("pipes, sockets and devices are refused without waiting for anyone", async () => {
  await using here = await ground();
  execFileSync("mkfifo", [join(here.home, "pipe")]);
  const server = createServer().listen(join(here.home, "socket"));
  await new Promise((resolve) => server.once("listening", resolve));
  const files = new LocalFilesystem({ root: here.root });
  for (const path of ["pipe", "socket"]) {
    await expect(files.read(mine, path), path).rejects.toThrow("neither a file nor a directory");
    for (const change of ["write", "append"] as const)
      await expect(files[change](mine, path, bytesOf("x")), path).rejects.toThrow(
        "neither a file nor a directory",
      );
  }
  expect((await files.list(mine)).map(({ path }) => path)).toEqual(["real", "real/file.txt"]);
  await new Promise((resolve) => server.close(resolve));
});
