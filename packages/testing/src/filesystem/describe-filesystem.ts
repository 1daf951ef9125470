import assert from "node:assert/strict";
import type { Filesystem } from "@holdfast/core";
import {
  type ConformanceCase,
  caseFactory,
  type ReopenableOptions,
  registerCases,
} from "../conformance/conformance-case.js";
import { fileCases } from "./file-cases.js";
import {
  type FilesystemCase,
  sampleNamespace as mine,
  readCachedText,
  readText,
  text,
} from "./filesystem-case.js";
import { namespaceCases } from "./namespace-cases.js";

/** Options of {@link describeFilesystem}. */
export interface FilesystemOptions extends ReopenableOptions<Filesystem> {}

/** Registers the tests every `Filesystem` must pass. */
export function describeFilesystem(name: string, options: FilesystemOptions): void {
  registerCases(`${name} as a Filesystem`, filesystemCases(options), options);
}

/** The cases of {@link describeFilesystem}. */
export function filesystemCases(options: FilesystemOptions): ConformanceCase[] {
  const check = caseFactory(options);
  return [
    check("it names its contract", async (files) => {
      assert.equal(files.contract, 1);
      assert.ok(files.kind.length > 0);
      assert.ok(["process", "host", "distributed"].includes(files.reach));
    }),
    ...fileCases(check),
    ...namespaceCases(check),
    ...(options.reopen === undefined ? [] : reopenCases(check)),
  ];
}

function reopenCases(check: FilesystemCase): ConformanceCase[] {
  return [
    check(
      "a cached read shows a second instance's change once it was refreshed",
      async (files, reopen) => {
        const second = await reopen();
        for (const content of ["one", "two", "six"]) {
          await second.write(mine, "a.txt", text(content));
          await files.refresh?.(mine, "a.txt");
          assert.equal(await readCachedText(files, mine, "a.txt"), content);
        }
        await second.delete(mine, "a.txt");
        await files.refresh?.(mine, "a.txt");
        assert.equal(await readCachedText(files, mine, "a.txt"), null);
      },
    ),
    check(
      "a written file is read, listed and deleted through a second instance",
      async (files, reopen) => {
        await files.write(mine, "notes/a.txt", text("one"));
        const second = await reopen();
        assert.equal(await readText(second, mine, "notes/a.txt"), "one");
        await second.append(mine, "notes/a.txt", text(" two"));
        assert.equal(await readText(files, mine, "notes/a.txt"), "one two");
        assert.equal(await second.delete(mine, "notes/a.txt"), true);
        assert.equal(await files.read(mine, "notes/a.txt"), null);
      },
    ),
  ];
}
