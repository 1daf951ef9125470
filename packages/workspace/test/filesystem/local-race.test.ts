import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InvalidInputError } from "@holdfast/core";
import { scaled, spawnScript, tempDirectory } from "@holdfast/testing";
import { expect, test } from "vitest";
import { LocalFilesystem } from "../../src/filesystem/index.js";
import { DirectoryTree } from "../../src/filesystem/local/directory-tree.js";
import { fileTreePath } from "../../src/filesystem/local/tree-path.js";
import { bytesOf, mine, textOf } from "./sample-files.js";

const swapper = new URL("./children/swapper.mjs", import.meta.url);
const secret = "the secret outside";

interface Ground extends AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly outside: string;
}

async function ground(): Promise<Ground> {
  const directory = await tempDirectory();
  const home = join(directory.path, "root/users/user");
  const outside = join(directory.path, "outside");
  for (const path of [home, join(outside, "deep")]) await mkdir(path, { recursive: true });
  for (const name of ["file.txt", "deep/file.txt", "deep/only-outside.txt", "victim.txt"])
    await writeFile(join(outside, name), secret);
  const root = join(directory.path, "root");
  return { root, home, outside, [Symbol.asyncDispose]: directory.cleanup };
}

/** Outcomes of the attempts of one kind. */
class Outcomes {
  done = 0;
  refused = 0;

  async count(action: () => Promise<unknown>): Promise<void> {
    try {
      await action();
      this.done++;
    } catch (error) {
      if (!InvalidInputError.is(error)) throw error;
      this.refused++;
    }
  }
}

test("no operation follows a directory that another process keeps swapping for a link", async () => {
  await using here = await ground();
  const files = new LocalFilesystem({ root: here.root });
  await using other = spawnScript(swapper, [here.home, here.outside]);
  await other.line("swapping");

  const paths = ["swap/file.txt", "swap/deep/file.txt"];
  const outcomes = {
    write: new Outcomes(),
    append: new Outcomes(),
    read: new Outcomes(),
    list: new Outcomes(),
    delete: new Outcomes(),
  };
  let found = 0;
  const kinds = Object.values(outcomes);
  const wanted = scaled(10, 500);
  const isEnough = () =>
    found >= wanted && kinds.every(({ done, refused }) => done >= wanted && refused >= wanted);
  const work = async (path: string) => {
    for (let round = 0; round < 20_000 && !isEnough(); round++) {
      await outcomes.write.count(() => files.write(mine, path, bytesOf("inside")));
      await outcomes.read.count(async () => {
        const text = textOf(await files.read(mine, path));
        expect(text ?? "inside").toMatch(/^(inside|added)+$/);
        if (text !== null) found++;
      });
      await outcomes.append.count(() => files.append(mine, path, bytesOf("added")));
      await outcomes.list.count(async () => {
        const infos = await files.list(mine, "swap");
        for (const info of infos) {
          expect(info.path).not.toMatch(/outside|victim/);
          if (info.kind === "file") expect(info.bytes).not.toBe(secret.length);
        }
      });
      await outcomes.delete.count(() => files.delete(mine, "swap/victim.txt"));
      await outcomes.delete.count(() => files.delete(mine, path));
    }
  };
  await Promise.all(paths.map(work));
  other.send("stop");
  const swaps = Number((await other.line((line) => line.startsWith("swaps"))).split(" ")[1]);

  // The race took place: each kind of operation met the directory and met the link.
  expect(swaps).toBeGreaterThan(wanted);
  expect(isEnough(), JSON.stringify({ ...outcomes, found })).toBe(true);
  const names = ["deep", "file.txt", "victim.txt"];
  expect((await readdir(here.outside)).sort()).toEqual(names);
  expect((await readdir(join(here.outside, "deep"))).sort()).toEqual([
    "file.txt",
    "only-outside.txt",
  ]);
  for (const name of ["file.txt", "deep/file.txt", "deep/only-outside.txt", "victim.txt"])
    expect(await readFile(join(here.outside, name), "utf8")).toBe(secret);
});

test("where paths are checked instead of handles, no swap makes a read return what is outside", async () => {
  await using here = await ground();
  const tree = new DirectoryTree({ root: here.root, maxFileBytes: 1_000, isAnchored: false });
  await mkdir(join(here.home, "swap"));
  await writeFile(join(here.home, "swap/file.txt"), "inside");
  await using other = spawnScript(swapper, [here.home, here.outside]);
  await other.line("swapping");
  const outcomes = new Outcomes();
  let found = 0;
  const wanted = scaled(10, 500);
  const target = fileTreePath(["users", "user"], "swap/file.txt");
  for (let round = 0; round < 20_000 && (found < wanted || outcomes.refused < wanted); round++)
    await outcomes.count(async () => {
      const text = textOf(await tree.read(target));
      expect(text ?? "inside").toBe("inside");
      if (text !== null) found++;
    });
  other.send("stop");
  await other.line((line) => line.startsWith("swaps"));
  expect(found).toBeGreaterThanOrEqual(wanted);
  expect(outcomes.refused).toBeGreaterThanOrEqual(wanted);
});
