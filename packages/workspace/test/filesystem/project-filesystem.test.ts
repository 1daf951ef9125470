import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
});

test("needs a directory", () => {
  expect(() => new ProjectFilesystem({ root: "" })).toThrow(
    expect.toSatisfy(ConfigurationError.is),
  );
});
