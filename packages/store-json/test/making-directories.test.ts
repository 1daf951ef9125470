import { fork } from "node:child_process";
import { rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Disk } from "../src/io/disk.js";
import { ioCode } from "../src/io/io-error.js";
import { temporaryRoot } from "./temporary-root.js";

const child = fileURLToPath(new URL("./children/remove-directories.mjs", import.meta.url));
const rounds = process.env["HOLDFAST_LONG"] === "1" ? 50_000 : 300;

test("a directory that another process removes meanwhile is missing, and never taken for a file", async () => {
  const root = temporaryRoot();
  const path = join(root, "session", "call");
  const remover = fork(child, [path]);
  const codes = new Set<string | undefined>();
  try {
    const disk = new Disk("os");
    for (let round = 0; round < rounds; round++) {
      await disk.makeDirectory(path, root).catch((error) => codes.add(ioCode(error)));
      await rmdir(path).catch(() => undefined);
      await rmdir(dirname(path)).catch(() => undefined);
    }
  } finally {
    remover.kill();
  }
  codes.delete("ENOENT");
  expect([...codes]).toEqual([]);
});
