import { setTimeout as sleep } from "node:timers/promises";
import { type Filesystem, InMemoryFilesystem } from "@holdfast/core";
import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { RecordedFilesystem } from "./recorded-filesystem.js";
import { directoriesIn, filePaths, mine, readText, run, sandboxed, text } from "./sandboxed.js";

describe("what is fetched for a call and kept after it", () => {
  test("only what changed is written back", async () => {
    const kept = new RecordedFilesystem();
    await using box = await sandboxed({ files: kept });
    for (const name of ["same", "touched", "changed", "gone"])
      await kept.write(mine, name, text(name));
    const visit = await box.files.enter(mine);
    kept.done.length = 0;
    await run(box.files, "touch touched; echo > changed; rm gone; echo > added");
    await visit.leave();
    expect(kept.done).toEqual(["write added", "write changed", "delete gone"]);
  });

  test("a call sees what another node kept before it came, although its node had the files already", async () => {
    const kept = new RecordedFilesystem();
    await using here = await sandboxed({ files: kept });
    await using there = await sandboxed({ files: kept });
    for (const name of ["same", "changed", "mine", "gone"]) await kept.write(mine, name, text("1"));
    const long = await here.files.enter(mine);
    await run(here.files, "echo here > mine; echo here > own");
    await run(there.files, "for f in changed mine own added; do echo there > $f; done; rm gone");
    expect((await run(here.files, "cat changed; ls")).stdout).toBe(
      "1changed\ngone\nmine\nown\nsame\n",
    );
    kept.done.length = 0;
    const visit = await here.files.enter({ ...mine, sessionId: "another" });
    expect(kept.done.sort()).toEqual(["read added", "read changed", "read mine", "read own"]);
    const { stdout } = await run(here.files, "head added changed mine own same gone 2>/dev/null");
    expect(stdout).toContain("==> added <==\nthere\n");
    expect(stdout).toContain("==> changed <==\nthere\n");
    expect(stdout).not.toContain("gone");
    // What a call here has changed itself is its own until it leaves, and then the last word.
    expect(stdout).toContain("==> mine <==\nhere\n");
    await visit.leave();
    await long.leave();
    expect(await filePaths(kept)).toEqual(["added", "changed", "mine", "own", "same"]);
    for (const name of ["mine", "own"]) expect(await readText(kept, name)).toBe("here\n");
  });

  test("what is written while a call leaves is not lost with its directory", async () => {
    const kept = new RecordedFilesystem();
    await using box = await sandboxed({ files: kept });
    const visit = await box.files.enter(mine);
    await run(box.files, "echo x > x");
    let goOn = (): void => {};
    kept.holdUp = new Promise((resolve) => {
      goOn = resolve;
    });
    const leaving = visit.leave();
    await eventually(() => kept.done.includes("write x"));
    const writing = box.files.write(mine, "late", text("late"));
    // It has to wait; if it did not, it would be done by then, in the directory that is about to go.
    await Promise.race([writing, sleep(200)]);
    goOn();
    await Promise.all([leaving, writing]);
    expect(await readText(kept, "late")).toBe("late");
  });

  test("a call cannot begin when its files cannot be fetched, and nothing stays behind", async () => {
    const kept = new RecordedFilesystem();
    await using box = await sandboxed({ files: kept });
    await box.files.check();
    const idle = await directoriesIn(box.scratch);
    for (const name of ["a", "b", "c"]) await kept.write(mine, name, text(name));
    kept.failing = "read b";
    await expect(box.files.enter(mine)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(run(box.files, "ls")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(await directoriesIn(box.scratch)).toBe(idle);
    kept.failing = "";
    expect((await run(box.files, "cat a b c")).stdout).toBe("abc");
  });

  test("changes that could not be kept are kept by the next attempt, or with the next call", async () => {
    const kept = new RecordedFilesystem();
    await using box = await sandboxed({ files: kept });
    for (const next of ["attempt", "call"]) {
      const visit = await box.files.enter(mine);
      await run(box.files, `echo ${next} > a; echo ${next} > b`);
      kept.failing = "write b";
      await expect(visit.leave()).rejects.toMatchObject({ code: "UNAVAILABLE" });
      kept.failing = "";
      if (next === "attempt") await visit.leave();
      else expect((await run(box.files, "cat b")).stdout).toBe(`${next}\n`);
      expect(await readText(kept, "b")).toBe(`${next}\n`);
    }
  });

  test("closing keeps what a call that never left has changed", async () => {
    const kept = new InMemoryFilesystem();
    await using box = await sandboxed({ files: kept });
    await box.files.enter(mine);
    await run(box.files, "echo x > x");
    await box.files.close();
    expect(await readText(kept, "x")).toBe("x\n");
    await expect(box.files.enter(mine)).rejects.toMatchObject({ code: "CONFIGURATION" });
  });

  test("a file whose name no disk holds stays where it is kept", async () => {
    const kept: Filesystem = new InMemoryFilesystem();
    await using box = await sandboxed({ files: kept });
    const long = `${"x".repeat(300)}.txt`;
    await kept.write(mine, long, text("long"));
    expect((await run(box.files, "ls | wc -l; echo > short")).stdout).toBe("0\n");
    expect(await filePaths(kept)).toEqual(["short", long]);
  });

  test("a namespace that is over the limits can be worked in as long as nothing is added", async () => {
    const kept = new InMemoryFilesystem();
    for (let index = 0; index < 8; index++)
      await kept.write(mine, `f${index}`, text("x".repeat(99)));
    await using box = await sandboxed({ files: kept, maxFiles: 4, maxTotalBytes: 100 });
    await run(box.files, "rm f1; echo > f2");
    expect(await filePaths(kept)).toHaveLength(7);
    await expect(run(box.files, "echo > new; echo > newer")).rejects.toMatchObject({
      code: "TOO_LARGE",
    });
    expect(await filePaths(kept)).toHaveLength(7);
  });
});
