import assert from "node:assert/strict";
import { assertRejects } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { inBatches } from "../conformance/in-batches.js";
import { nastyIds } from "../conformance/nasty-ids.js";
import { badSlots } from "../conformance/sample-slots.js";
import {
  type FilesystemCase,
  filePaths,
  sampleNamespace as mine,
  readText,
  text,
} from "./filesystem-case.js";

/** Files belong to a user, or to an anonymous session. */
export function namespaceCases(check: FilesystemCase): ConformanceCase[] {
  return [
    check("a user's files are the same in each of the user's sessions", async (files) => {
      await files.write(mine, "a.txt", text("mine"));
      assert.equal(await readText(files, { ...mine, sessionId: "another" }, "a.txt"), "mine");
    }),
    check("a user's files are the user's with every agent", async (files) => {
      await files.write(mine, "a.txt", text("mine"));
      assert.equal(await readText(files, { ...mine, agentId: "another" }, "a.txt"), "mine");
    }),
    check("without a user the files are the session's own", async (files) => {
      const one = { ...mine, userId: null, sessionId: "one" };
      await files.write(one, "a.txt", text("one"));
      for (const other of [
        { ...one, sessionId: "two" },
        { ...one, userId: "one" },
        { ...one, userId: "user" },
      ]) {
        assert.equal(await files.read(other, "a.txt"), null);
        assert.deepStrictEqual(await filePaths(files, other), []);
        assert.equal(await files.delete(other, "a.txt"), false);
      }
      assert.equal(await readText(files, one, "a.txt"), "one");
    }),
    check("no awkward id reaches another's files", async (files) => {
      const namespaces = [
        ...nastyIds.map((userId) => ({ ...mine, userId })),
        ...nastyIds.map((sessionId) => ({ ...mine, userId: null, sessionId })),
      ];
      const own = (at: number): string => `file of ${at}`;
      await inBatches(namespaces, 8, (each, at) => files.write(each, "a.txt", text(own(at))));
      await inBatches(namespaces, 8, async (each, at) => {
        assert.equal(await readText(files, each, "a.txt"), own(at));
        assert.deepStrictEqual(await filePaths(files, each), ["a.txt"]);
      });
    }),
    check("what is not an id is refused", async (files) => {
      for (const [what, bad] of badSlots()) {
        await assertRejects(() => files.read(bad, "a"), "InvalidIdError", `read with ${what}`);
        const write = () => files.write(bad, "a", text("x"));
        await assertRejects(write, "InvalidIdError", `write with ${what}`);
      }
    }),
  ];
}
