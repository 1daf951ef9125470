import { chmod, chown, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ConfigurationError, InvalidInputError } from "@holdfast/core";
import { tempDirectory } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";
import { ProjectFilesystem } from "../../src/index.js";
import { bytesOf, mine, textOf } from "./sample-files.js";

async function project(): Promise<{ root: string; files: ProjectFilesystem }> {
  const directory = await tempDirectory();
  onTestFinished(directory.cleanup);
  const root = join(directory.path, "project");
  await mkdir(root);
  await writeFile(join(directory.path, "secret.txt"), "secret");
  return { root, files: new ProjectFilesystem({ root }) };
}

test("has the files at their own paths, for every user", async () => {
  const { root, files } = await project();
  await files.write(mine, "src/a.ts", bytesOf("a"));
  await files.append({ ...mine, userId: "another" }, "src/a.ts", bytesOf("b"));
  expect(await readFile(join(root, "src/a.ts"), "utf8")).toBe("ab");
  expect(textOf(await files.read(mine, "src/a.ts"))).toBe("ab");
  expect(await files.delete(mine, "src/a.ts")).toBe(true);
  expect(await files.list(mine)).toEqual([]);
});

test("lists what people wrote, and reads the rest", async () => {
  const { root, files } = await project();
  await mkdir(join(root, "node_modules/left-pad"), { recursive: true });
  await writeFile(join(root, "node_modules/left-pad/index.js"), "pad");
  await writeFile(join(root, "main.ts"), "main");
  expect((await files.list(mine)).map(({ path }) => path)).toEqual(["main.ts"]);
  const inside = await files.list(mine, "node_modules/left-pad");
  expect(inside.map(({ path }) => path)).toEqual(["node_modules/left-pad/index.js"]);
  expect(textOf(await files.read(mine, "node_modules/left-pad/index.js"))).toBe("pad");
});

test("leaves its directory neither by .. nor through a link", async () => {
  const { root, files } = await project();
  await symlink(join(root, "../secret.txt"), join(root, "link.txt"));
  await symlink(join(root, ".."), join(root, "up"));
  for (const path of ["../secret.txt", "link.txt", "up/secret.txt"])
    await expect(files.read(mine, path), path).rejects.toSatisfy(InvalidInputError.is);
  await expect(files.write(mine, "up/new.txt", bytesOf("new"))).rejects.toSatisfy(
    InvalidInputError.is,
  );
  expect(await files.list(mine)).toEqual([]);
  for (const path of ["up", "up/project"])
    await expect(files.list(mine, path), path).rejects.toSatisfy(InvalidInputError.is);
});

test("leaves out what this process may not read", async () => {
  const { root, files } = await project();
  for (const name of ["closed", "named-only"]) {
    await mkdir(join(root, name));
    await writeFile(join(root, name, "a.txt"), "a");
  }
  await writeFile(join(root, "main.ts"), "main");
  await chmod(join(root, "closed"), 0o000);
  await chmod(join(root, "named-only"), 0o444);
  const listed = await asNobody(root, () => files.list(mine));
  expect(listed.map(({ path }) => path)).toEqual(["main.ts", "named-only"]);
});

/** Runs something without root's right to read everything. */
async function asNobody<T>(root: string, run: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return run();
  const nobody = 65_534;
  await chmod(join(root, ".."), 0o755);
  for (const path of [root, "closed", "named-only"])
    await chown(resolve(root, path), nobody, nobody);
  process.seteuid?.(nobody);
  try {
    return await run();
  } finally {
    process.seteuid?.(0);
  }
}

test("needs a directory", () => {
  expect(() => new ProjectFilesystem({ root: "" })).toThrow(
    expect.toSatisfy(ConfigurationError.is),
  );
});
