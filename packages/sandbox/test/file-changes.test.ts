import { InMemoryFilesystem } from "@holdfast/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fileChanges } from "../src/files/file-changes.js";
import { mine, readText, text } from "./sandboxed.js";

/** Sets of files that a directory can hold: no file is where another has a directory. */
const manifests = fc
  .dictionary(
    fc
      .array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 })
      .map((names) => names.join("/")),
    fc.constantFrom("1", "2"),
  )
  .map((files) => {
    const paths = Object.keys(files).sort();
    const fits = paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));
    return new Map(fits.map((path) => [path, files[path] ?? ""]));
  });

test("the changes, done in order, make one set of files of another, and touch nothing else", async () => {
  await fc.assert(
    fc.asyncProperty(manifests, manifests, async (before, after) => {
      const files = new InMemoryFilesystem();
      for (const [path, content] of before) await files.write(mine, path, text(content));
      const { removeFirst, write, removeLast } = fileChanges(before, after);
      for (const path of removeFirst) expect(await files.delete(mine, path)).toBe(true);
      for (const path of write) {
        expect(await readText(files, path)).not.toBe(after.get(path));
        await files.write(mine, path, text(after.get(path) ?? ""));
      }
      for (const path of removeLast) expect(await files.delete(mine, path)).toBe(true);
      const found = await files.list(mine);
      const paths = found.filter(({ kind }) => kind === "file").map(({ path }) => path);
      expect(paths).toEqual([...after.keys()].sort());
      for (const [path, content] of after) expect(await readText(files, path)).toBe(content);
    }),
  );
});

test("a renamed file is written under its new name before the old one goes", () => {
  const { removeFirst, write, removeLast } = fileChanges(
    new Map([["old", "1"]]),
    new Map([["new", "1"]]),
  );
  expect([removeFirst, write, removeLast]).toEqual([[], ["new"], ["old"]]);
});
