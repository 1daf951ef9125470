import { readdir } from "node:fs/promises";
import { InMemoryKeyValueStore } from "@holdfast/core";
import { RemoteFilesystem } from "@holdfast/workspace";
import { describe, expect, test } from "vitest";
import { directoriesIn, filePaths, mine, readText, run, sandboxed, text } from "./sandboxed.js";

describe("a namespace while calls are in it and between them", () => {
  test("what a call does is seen by its commands and its tools alike, and kept when it leaves", async () => {
    await using box = await sandboxed();
    await box.files.write(mine, "notes/a.txt", text("one"));
    const visit = await box.files.enter(mine);
    await run(box.files, "cat notes/a.txt > copy.txt; echo two >> notes/a.txt; mkdir new");
    expect(await readText(box.files, "notes/a.txt")).toBe("onetwo\n");
    await box.files.write(mine, "new/tool.txt", text("tool"));
    await box.files.append(mine, "new/tool.txt", text("ed"));
    expect((await run(box.files, "cat new/tool.txt; echo more >> new/tool.txt")).stdout).toBe(
      "tooled",
    );
    expect(await filePaths(box.files)).toEqual(["copy.txt", "new/tool.txt", "notes/a.txt"]);
    expect(await filePaths(box.kept)).toEqual(["notes/a.txt"]);
    await visit.leave();
    expect(await filePaths(box.kept)).toEqual(["copy.txt", "new/tool.txt", "notes/a.txt"]);
    expect(await readText(box.kept, "new/tool.txt")).toBe("tooledmore\n");
    expect(await readText(box.kept, "notes/a.txt")).toBe("onetwo\n");
  });

  test("files go from one call to the next, and to another node", async () => {
    const keyValue = new InMemoryKeyValueStore();
    await using first = await sandboxed({ files: new RemoteFilesystem({ keyValue }) });
    await using second = await sandboxed({ files: new RemoteFilesystem({ keyValue }) });
    const visit = await first.files.enter(mine);
    await run(
      first.files,
      "mkdir -p src; echo 'echo hello' > src/run.sh; head -c 700K /dev/urandom > blob; sha256sum blob > sum",
    );
    await visit.leave();
    const again = await second.files.enter(mine);
    const { stdout } = await run(second.files, "sh src/run.sh; sha256sum -c sum; rm blob");
    expect(stdout).toBe("hello\nblob: OK\n");
    await again.leave();
    expect((await run(first.files, "ls")).stdout).toBe("src\nsum\n");
  });

  test("nothing of a namespace is on the disk when nobody is in it", async () => {
    await using box = await sandboxed();
    await box.files.check();
    const idle = await directoriesIn(box.scratch);
    const visit = await box.files.enter(mine);
    await run(box.files, "echo x > x");
    expect(await directoriesIn(box.scratch)).toBe(idle + 1);
    await visit.leave();
    expect(await directoriesIn(box.scratch)).toBe(idle);
    await box.files.close();
    expect(await readdir(box.scratch)).toEqual([]);
  });

  test("a deletion is kept, by a command and by a tool", async () => {
    await using box = await sandboxed();
    for (const name of ["a", "b", "c"]) await box.files.write(mine, `d/${name}`, text(name));
    const visit = await box.files.enter(mine);
    await run(box.files, "rm d/a");
    expect(await box.files.delete(mine, "d/b")).toBe(true);
    expect(await box.files.delete(mine, "d/b")).toBe(false);
    await visit.leave();
    expect(await filePaths(box.kept)).toEqual(["d/c"]);
  });

  test("a file may become a directory and a directory a file", async () => {
    await using box = await sandboxed();
    await box.files.write(mine, "a", text("file"));
    await box.files.write(mine, "b/c/d", text("file"));
    await run(box.files, "rm -r a b; mkdir -p a/b; echo 1 > a/b/c; echo 2 > b");
    expect(await filePaths(box.kept)).toEqual(["a/b/c", "b"]);
    expect(await readText(box.kept, "b")).toBe("2\n");
  });

  test("two calls at once share the files, and the first to leave takes none away", async () => {
    await using box = await sandboxed();
    const other = { ...mine, sessionId: "another" };
    const [first, second] = await Promise.all([box.files.enter(mine), box.files.enter(other)]);
    await run(box.files, "echo 1 > one");
    expect((await run(box.files, "cat one; echo 2 > two", { namespace: other })).stdout).toBe(
      "1\n",
    );
    await first.leave();
    expect(await filePaths(box.kept)).toEqual(["one", "two"]);
    await run(box.files, "echo 3 > three", { namespace: other });
    expect(await filePaths(box.kept)).toEqual(["one", "two"]);
    await first.leave();
    await second.leave();
    expect(await filePaths(box.kept)).toEqual(["one", "three", "two"]);
  });

  test("calls that come and go at once lose nothing", async () => {
    await using box = await sandboxed();
    const calls = Array.from({ length: 12 }, async (_, index) => {
      const visit = await box.files.enter(mine);
      await box.files.write(mine, `call-${index}`, text(String(index)));
      await box.files.append(mine, "log", text(`${index}\n`));
      await visit.leave();
      await box.files.append(mine, "log", text(`after ${index}\n`));
    });
    await Promise.all(calls);
    expect(await filePaths(box.kept)).toHaveLength(13);
    expect((await readText(box.kept, "log"))?.trim().split("\n")).toHaveLength(24);
  });

  test("logs and tasks of agents are no command's business, and stay as they are", async () => {
    await using box = await sandboxed();
    const log = "agents/a/sessions/s.log.jsonl";
    await box.files.write(mine, log, text("one\n"));
    const visit = await box.files.enter(mine);
    const { stdout } = await run(
      box.files,
      "ls -A; mkdir -p agents/a/sessions; echo forged > agents/a/sessions/s.log.jsonl; echo x > agents/new",
    );
    expect(stdout).toBe("");
    await box.files.append(mine, log, text("two\n"));
    expect(await readText(box.files, log)).toBe("one\ntwo\n");
    expect(await filePaths(box.files)).toEqual([log]);
    await visit.leave();
    expect(await filePaths(box.kept)).toEqual([log]);
    expect(await readText(box.kept, log)).toBe("one\ntwo\n");
  });

  test("a script stays executable from one call to the next", async () => {
    await using box = await sandboxed();
    await run(
      box.files,
      "printf '#!/bin/sh\\necho hello\\n' > run; chmod +x run; echo text > text",
    );
    expect((await run(box.files, "./run; test -x text || echo text")).stdout).toBe("hello\ntext\n");
    const visit = await box.files.enter(mine);
    await run(box.files, "chmod +x text");
    await box.files.write(mine, "text", text("#!/bin/sh\necho hi"));
    expect((await run(box.files, "./text")).stdout).toBe("hi\n");
    await visit.leave();
  });
});
