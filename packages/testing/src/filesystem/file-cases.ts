import assert from "node:assert/strict";
import { assertRejects } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import {
  type FilesystemCase,
  filePaths,
  sampleNamespace as mine,
  readCachedText,
  readText,
  text,
} from "./filesystem-case.js";

const badPaths = ["/etc/passwd", "/", "..", "../x", "a/..", "a/../../x", "a/../b", "a\u0000b"];
const oddNames = [
  "a b.txt",
  "ünï.txt",
  "漢字.txt",
  "🌤",
  "100%.txt",
  "%2e%2e",
  "it's.txt",
  "$&",
  "{a}",
  ".hidden",
  "...",
  "..a",
  "a..b",
];

/** Reading and writing files. */
export function fileCases(check: FilesystemCase): ConformanceCase[] {
  return [
    check("a missing file reads as null, and deleting it returns false", async (files) => {
      assert.equal(await files.read(mine, "a.txt"), null);
      assert.equal(await files.read(mine, "a/b/c.txt"), null);
      assert.equal(await files.delete(mine, "a.txt"), false);
      assert.deepStrictEqual(await files.list(mine), []);
      assert.deepStrictEqual(await files.list(mine, "a"), []);
    }),
    check("any bytes come back, none and a megabyte included", async (files) => {
      const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
      for (const bytes of [all, new Uint8Array(0), new Uint8Array(1_000_000).fill(200)]) {
        await files.write(mine, "deep/down/data.bin", bytes);
        const read = await files.read(mine, "deep/down/data.bin");
        assert.ok(read !== null && Buffer.compare(read, bytes) === 0, "the same bytes");
      }
    }),
    check("write replaces the whole file, append adds to it or begins it", async (files) => {
      await files.write(mine, "a.txt", text("a long first version"));
      await files.write(mine, "a.txt", text("short"));
      assert.equal(await readText(files, mine, "a.txt"), "short");
      await files.append(mine, "a.txt", text("er"));
      await files.append(mine, "new/b.txt", text("begun"));
      assert.equal(await readText(files, mine, "a.txt"), "shorter");
      assert.equal(await readText(files, mine, "new/b.txt"), "begun");
    }),
    check("bytes are copied both ways", async (files) => {
      const bytes = text("kept");
      await files.write(mine, "a.txt", bytes);
      bytes.fill(0);
      (await files.read(mine, "a.txt"))?.fill(0);
      assert.equal(await readText(files, mine, "a.txt"), "kept");
    }),
    check("a cached read shows every change through the same instance", async (files) => {
      assert.equal(await readCachedText(files, mine, "a.txt"), null);
      for (const content of ["one", "two", "six"]) {
        await files.write(mine, "a.txt", text(content));
        assert.equal(await readCachedText(files, mine, "a.txt"), content);
        assert.equal(await readCachedText(files, { ...mine, userId: "other" }, "a.txt"), null);
      }
      await files.append(mine, "a.txt", text("teen"));
      assert.equal(await readCachedText(files, mine, "a.txt"), "sixteen");
      await files.delete(mine, "a.txt");
      assert.equal(await readCachedText(files, mine, "a.txt"), null);
    }),
    check("a deleted file is gone, its neighbours stay", async (files) => {
      await files.write(mine, "a.txt", text("a"));
      await files.write(mine, "a.txt.bak", text("b"));
      assert.equal(await files.delete(mine, "a.txt"), true);
      assert.equal(await files.delete(mine, "a.txt"), false);
      assert.equal(await files.read(mine, "a.txt"), null);
      assert.equal(await readText(files, mine, "a.txt.bak"), "b");
    }),
    check("a listing shows everything below a path, in order, with sizes", async (files) => {
      const paths = ["a/x.txt", "a/y/z.txt", "ab.txt", "b.txt"];
      for (const path of [...paths].reverse()) await files.write(mine, path, text(path));
      assert.deepStrictEqual(await filePaths(files, mine), paths);
      assert.deepStrictEqual(await filePaths(files, mine, "a"), ["a/x.txt", "a/y/z.txt"]);
      assert.deepStrictEqual(await filePaths(files, mine, "a/y"), ["a/y/z.txt"]);
      const infos = await files.list(mine);
      for (const info of infos.filter(({ kind }) => kind === "file")) {
        assert.equal(info.bytes, text(info.path).length);
        assert.ok(!Number.isNaN(Date.parse(info.modifiedAt)), "modifiedAt is a time");
      }
    }),
    check("odd names are names like any other", async (files) => {
      for (const name of oddNames) await files.write(mine, `odd/${name}`, text(name));
      for (const name of oddNames)
        assert.equal(await readText(files, mine, `odd/${name}`), name, `the file ${name}`);
      const listed = await filePaths(files, mine, "odd");
      assert.deepStrictEqual(listed.sort(), oddNames.map((name) => `odd/${name}`).sort());
    }),
    check("paths that leave the namespace are refused by every method", async (files) => {
      for (const path of badPaths) {
        const bytes = text("x");
        await assertRejects(() => files.read(mine, path), "InvalidInputError", `read of ${path}`);
        const write = () => files.write(mine, path, bytes);
        await assertRejects(write, "InvalidInputError", `write to ${path}`);
        const append = () => files.append(mine, path, bytes);
        await assertRejects(append, "InvalidInputError", `append to ${path}`);
        await assertRejects(
          () => files.delete(mine, path),
          "InvalidInputError",
          `delete of ${path}`,
        );
        await assertRejects(() => files.list(mine, path), "InvalidInputError", `list of ${path}`);
      }
    }),
    check("a reader sees the old file or the new one, never a mix", async (files) => {
      const version = (number: number): Uint8Array => new Uint8Array(20_000).fill(number);
      await files.write(mine, "a.bin", version(0));
      let writing = true;
      const read = async (): Promise<void> => {
        while (writing) {
          const bytes = await files.read(mine, "a.bin");
          assert.ok(bytes !== null && bytes.length === 20_000, "the whole file is there");
          assert.ok(
            bytes.every((byte) => byte === bytes[0]),
            "of one version",
          );
        }
      };
      const write = async (): Promise<void> => {
        for (let number = 1; number <= 30; number++)
          await files.write(mine, "a.bin", version(number));
      };
      const written = write().finally(() => {
        writing = false;
      });
      await Promise.all([written, read(), read()]);
    }),
    check("appends at once lose nothing", async (files) => {
      const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`);
      await Promise.all(lines.map((line) => files.append(mine, "log.txt", text(`${line}\n`))));
      const read = (await readText(files, mine, "log.txt"))?.trimEnd().split("\n");
      assert.deepStrictEqual(read?.sort(), lines.sort());
    }),
  ];
}
