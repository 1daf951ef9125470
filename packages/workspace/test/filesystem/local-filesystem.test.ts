import { chmod, mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError, InvalidInputError, StateTooLargeError } from "@holdfast/core";
import { pathSegment } from "@holdfast/core/store-kit";
import { describeFilesystem, eventually, tempDirectory } from "@holdfast/testing";
import { expect, test } from "vitest";
import { LocalFilesystem, LocalFilesystemSpec } from "../../src/filesystem/index.js";
import { bytesOf, listed, mine, readText } from "./sample-files.js";

const roots = new WeakMap<object, Awaited<ReturnType<typeof tempDirectory>>>();

describeFilesystem("LocalFilesystem", {
  async create() {
    const directory = await tempDirectory();
    const files = new LocalFilesystem({ root: join(directory.path, "made/when/needed") });
    roots.set(files, directory);
    return files;
  },
  reopen(files) {
    const root = join(roots.get(files)?.path ?? "", "made/when/needed");
    return new LocalFilesystem({ root });
  },
  cleanup: (files) => roots.get(files)?.cleanup(),
});

test("a user's files are in users/, a session's without a user in sessions/, whichever the agent", async () => {
  await using directory = await tempDirectory();
  const files = new LocalFilesystem({ root: directory.path });
  await files.write({ ...mine, userId: "Ann/B" }, "notes/a.md", bytesOf("ann"));
  await files.write({ ...mine, userId: null, sessionId: ".." }, "a.md", bytesOf("nobody"));
  const ann = join(directory.path, "users", pathSegment("Ann/B"), "notes/a.md");
  expect(await readFile(ann, "utf8")).toBe("ann");
  const nobody = join(directory.path, "sessions", pathSegment(".."), "a.md");
  expect(await readFile(nobody, "utf8")).toBe("nobody");
  const other = { agentId: "another", userId: "Ann/B", sessionId: "x" };
  expect(await files.read(other, "notes/a.md")).toEqual(bytesOf("ann"));
});

test("only the owner of the process may read what agents keep", async () => {
  await using directory = await tempDirectory();
  const files = new LocalFilesystem({ root: directory.path });
  await files.write(mine, "d/a.md", bytesOf("x"));
  await files.append(mine, "d/b.md", bytesOf("x"));
  const top = join(directory.path, "users/user");
  for (const path of [top, join(top, "d")]) expect((await stat(path)).mode & 0o777).toBe(0o700);
  for (const name of ["d/a.md", "d/b.md"])
    expect((await stat(join(top, name))).mode & 0o777).toBe(0o600);
});

test("a file that is replaced keeps its permissions: a script stays executable", async () => {
  await using directory = await tempDirectory();
  const files = new LocalFilesystem({ root: directory.path });
  await files.write(mine, "run.sh", bytesOf("echo 1"));
  const path = join(directory.path, "users/user/run.sh");
  await chmod(path, 0o750);
  await files.write(mine, "run.sh", bytesOf("echo 2"));
  expect((await stat(path)).mode & 0o777).toBe(0o750);
  expect(await readFile(path, "utf8")).toBe("echo 2");
});

test("deleting the last file of directories removes them, up to the user's own", async () => {
  await using directory = await tempDirectory();
  const files = new LocalFilesystem({ root: directory.path });
  await files.write(mine, "a/b/c/one.txt", bytesOf("1"));
  await files.write(mine, "a/two.txt", bytesOf("2"));
  expect(await files.delete(mine, "a/b/c/one.txt")).toBe(true);
  expect(await listed(files)).toEqual(["a/", "a/two.txt"]);
  expect(await files.delete(mine, "a")).toBe(false);
  expect(await files.delete(mine, "a/two.txt")).toBe(true);
  expect(await readdir(join(directory.path, "users"))).toEqual([]);
});

test("writes and deletes at once in one directory never fail and lose no write", async () => {
  await using directory = await tempDirectory();
  const files = new LocalFilesystem({ root: directory.path });
  const work = async (name: string) => {
    for (let round = 0; round < 30; round++) {
      const write =
        round % 2 === 0
          ? files.write(mine, name, bytesOf(name))
          : files.append(mine, name, bytesOf(name));
      await write;
      expect(await readText(files, name)).toBe(name);
      expect(await files.delete(mine, name)).toBe(true);
    }
  };
  await Promise.all(["d/e/a", "d/e/b", "d/c", "d/e/f/g"].map(work));
  expect(await listed(files)).toEqual([]);
});

test("a file where a directory is needed, and a directory where a file is, are refused", async () => {
  await using directory = await tempDirectory();
  const files = new LocalFilesystem({ root: directory.path });
  await files.write(mine, "d/a", bytesOf("a file"));
  for (const change of ["write", "append"] as const) {
    await expect(files[change](mine, "d/a/b", bytesOf("x"))).rejects.toThrow(
      '"d/a" is a file, not a directory',
    );
    await expect(files[change](mine, "d", bytesOf("x"))).rejects.toThrow(
      '"d" is a directory, not a file',
    );
  }
  expect(await files.read(mine, "d")).toBeNull();
  expect(await files.read(mine, "d/a/b")).toBeNull();
  expect(await files.list(mine, "d/a")).toEqual([]);
  expect(await files.delete(mine, "d/a/b")).toBe(false);
  expect(await listed(files)).toEqual(["d/", "d/a"]);
});

test("a file over maxFileBytes is refused before it is read or written", async () => {
  await using directory = await tempDirectory();
  const files = new LocalFilesystem({ root: directory.path, maxFileBytes: 10 });
  await files.write(mine, "a", bytesOf("0123456789"));
  expect(await readText(files, "a")).toBe("0123456789");
  const refused = { name: "StateTooLargeError", message: expect.stringContaining("maxFileBytes") };
  await expect(files.write(mine, "b", bytesOf("0123456789a"))).rejects.toMatchObject(refused);
  await expect(files.append(mine, "a", bytesOf("a"))).rejects.toMatchObject(refused);
  await writeFile(join(directory.path, "users/user/c"), "0123456789a");
  await expect(files.read(mine, "c")).rejects.toSatisfy(StateTooLargeError.is);
  expect(await listed(files)).toEqual(["a", "c"]);
  expect(await readText(files, "a")).toBe("0123456789");
});

test("temporary files are never listed, cannot be named, and old ones are swept", async () => {
  await using directory = await tempDirectory();
  const files = new LocalFilesystem({ root: directory.path });
  await files.write(mine, "d/a", bytesOf("x"));
  const folder = join(directory.path, "users/user/d");
  const [young, old] = ["a", "b"].map((digit) => `.holdfast-tmp-${digit.repeat(24)}`) as [
    string,
    string,
  ];
  for (const name of [young, old]) await writeFile(join(folder, name), "left by a crash");
  const longAgo = new Date(Date.now() - 2 * 3_600_000);
  await utimes(join(folder, old), longAgo, longAgo);
  expect(await listed(files)).toEqual(["d/", "d/a"]);
  expect((await readdir(folder)).sort()).toEqual([young, "a"].sort());
  for (const path of [`d/${young}`, `${young}/a`])
    await expect(files.read(mine, path)).rejects.toSatisfy(InvalidInputError.is);
});

test("a failed write leaves no temporary file", async () => {
  await using directory = await tempDirectory();
  const files = new LocalFilesystem({ root: directory.path });
  await files.write(mine, "d/a", bytesOf("x"));
  await expect(files.write(mine, "d", bytesOf("x"))).rejects.toSatisfy(InvalidInputError.is);
  expect(await readdir(join(directory.path, "users/user"))).toEqual(["d"]);
});

test("names and paths that no file can have are refused with a reason", async () => {
  await using directory = await tempDirectory();
  const files = new LocalFilesystem({ root: directory.path });
  const long = "x".repeat(300);
  for (const path of [long, `${long}/a`, Array(101).fill("d").join("/")]) {
    await expect(files.write(mine, path, bytesOf("x"))).rejects.toSatisfy(InvalidInputError.is);
    await expect(files.read(mine, path)).rejects.toSatisfy(InvalidInputError.is);
  }
  const deep = `${Array(99).fill("d".repeat(100)).join("/")}/file`;
  await files.write(mine, deep, bytesOf("deep"));
  expect(await readText(files, deep)).toBe("deep");
  expect(await listed(files)).toContain(deep);
  expect(await files.delete(mine, deep)).toBe(true);
});

test("a listing goes on when files and directories vanish meanwhile", async () => {
  await using directory = await tempDirectory();
  const files = new LocalFilesystem({ root: directory.path });
  await files.write(mine, "stays", bytesOf("x"));
  let isDone = false;
  const churn = async (name: string) => {
    while (!isDone) {
      for (let at = 0; at < 10; at++) await files.write(mine, `${name}/${at}/f`, bytesOf("x"));
      for (let at = 0; at < 10; at++) await files.delete(mine, `${name}/${at}/f`);
    }
  };
  const churning = [churn("a"), churn("b")];
  let seen = 0;
  await eventually(
    async () => {
      const paths = await listed(files);
      expect(paths).toContain("stays");
      if (paths.length > 1 && paths.length < 42) seen++;
      return seen > 50;
    },
    { intervalMs: 0, timeoutMs: 50_000 },
  ).finally(() => {
    isDone = true;
  });
  await Promise.all(churning);
});

test("what an empty root holds is nothing, and reading does not make it", async () => {
  await using directory = await tempDirectory();
  const files = new LocalFilesystem({ root: join(directory.path, "none") });
  expect(await files.read(mine, "a")).toBeNull();
  expect(await listed(files)).toEqual([]);
  expect(await files.delete(mine, "a")).toBe(false);
  expect(await files.shared.read("AGENTS.md")).toBeNull();
  expect(await files.shared.list()).toEqual([]);
  expect(await readdir(directory.path)).toEqual([]);
});

test("empty directories are listed", async () => {
  await using directory = await tempDirectory();
  const files = new LocalFilesystem({ root: directory.path });
  await mkdir(join(directory.path, "users/user/empty/inside"), { recursive: true });
  expect(await listed(files)).toEqual(["empty/", "empty/inside/"]);
});

test("the spec makes it over the workspace directory, with a shell only when asked", async () => {
  await using directory = await tempDirectory();
  const parts = { workspace: directory.path, keyValue: {} as never, stateStore: {} as never };
  const spec = new LocalFilesystemSpec();
  expect({ kind: spec.kind, needs: spec.needs }).toEqual({ kind: "local", needs: "process" });
  const files = spec.create(parts);
  await files.write(mine, "a", bytesOf("x"));
  expect(await readdir(join(directory.path, "users/user"))).toEqual(["a"]);
  expect(files.run).toBeUndefined();
  expect(new LocalFilesystemSpec({ shell: true }).create(parts).run).toBeTypeOf("function");
});

test("wrong options are named", () => {
  for (const options of [
    {},
    { root: "" },
    { root: "x", shell: "yes" },
    { root: "x", maxFileBytes: 0 },
    { root: "x", other: 1 },
  ])
    expect(() => new LocalFilesystem(options as never)).toThrow(ConfigurationError);
  expect(() => new LocalFilesystemSpec({ shell: 1 } as never)).toThrow(/option shell is 1/);
});
