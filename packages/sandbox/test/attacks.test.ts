import { readdir } from "node:fs/promises";
import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import {
  mine,
  processesWith,
  readText,
  run,
  type Sandboxed,
  sandboxed,
  text,
  volumeHolders,
} from "./sandboxed.js";

const megabyte = 1_048_576;
/** System call number of `memfd_create`. */
const memfd = process.arch === "arm64" ? 279 : 319;

interface Ended {
  readonly code: string;
  readonly says: string;
}

/** Runs a command that has to be ended for what it uses; the user's files and the machine stay as they were. */
async function ends(box: Sandboxed, command: string, { code, says }: Ended): Promise<void> {
  const mark = `holdfast-mark-${process.pid}-${Date.now()}`;
  await box.kept.write(mine, "before.txt", text("before"));
  const visit = await box.files.enter(mine);
  await expect(run(box.files, `: ${mark}; ${command}; sleep 100`)).rejects.toMatchObject({
    code,
    message: expect.stringContaining(says),
  });
  expect(processesWith(mark)).toBe(0);
  expect(await readText(box.files, "before.txt")).toBe("before");
  expect((await run(box.files, "rm -rf big* many; ls")).stdout).toBe("before.txt\n");
  await visit.leave();
  expect(await readText(box.kept, "before.txt")).toBe("before");
  await box.files.close();
  expect(await readdir(box.scratch)).toEqual([]);
  expect(volumeHolders()).toEqual([]);
}

const tooMuchDisk: Ended = { code: "TOO_LARGE", says: "maxTotalBytes" };
const tooMuchMemory: Ended = { code: "TOO_LARGE", says: "memoryBytes" };

describe.each(["memory", "disk"] as const)(
  "a command on files in %s that takes too much",
  (storage) => {
    test("of a deleted file that it keeps open", async () => {
      await using box = await sandboxed({ storage, maxTotalBytes: megabyte });
      await ends(box, "exec 9> big; rm big; head -c 5M /dev/zero >&9", tooMuchDisk);
    });

    test("of deleted files and others together", async () => {
      await using box = await sandboxed({ storage, maxTotalBytes: megabyte });
      const fill = "head -c 1200K /dev/zero";
      await ends(box, `exec 9> big; rm big; ${fill} >&9; ${fill} > big2`, tooMuchDisk);
    });

    test("of a file whose blocks lie beyond its size: none can be allocated", async () => {
      await using box = await sandboxed({ storage });
      const { stdout, stderr } = await run(
        box.files,
        "touch file; fallocate -n -l 1500M file; fallocate -l 10M other; stat -c %b file",
      );
      expect(stdout).toBe("0\n");
      expect(stderr.match(/supported/g)).toHaveLength(2);
    });

    test("of small files without end", async () => {
      await using box = await sandboxed({ storage, maxFiles: 100 });
      const many = 'mkdir many; i=0; while [ $i -lt 300 ]; do touch "many/$i"; i=$((i+1)); done';
      await ends(box, `${many} 2> /dev/null`, { code: "TOO_LARGE", says: "maxFiles" });
    });

    test("can be followed by one that deletes some, however long it takes, but not by one that adds more", async () => {
      await using box = await sandboxed({ storage, maxFiles: 100 });
      const tooMany = { code: "TOO_LARGE", message: expect.stringContaining("maxFiles") };
      const add = (from: number): string =>
        `i=${from}; while [ $i -lt ${from + 300} ]; do echo > "many/$i"; i=$((i+1)); done 2> /dev/null`;
      const visit = await box.files.enter(mine);
      const first = `mkdir many; ${add(0)}; sleep 100`;
      await expect(run(box.files, first)).rejects.toMatchObject(tooMany);
      await expect(run(box.files, `${add(300)}; sleep 100`)).rejects.toMatchObject(tooMany);
      expect((await run(box.files, "sleep 2; rm -rf many; echo fine")).stdout).toBe("fine\n");
      await visit.leave();
      expect(await box.kept.list(mine, "")).toEqual([]);
    });

    test("of memory with 200 processes, each of which has little", async () => {
      await using box = await sandboxed({
        storage,
        memoryBytes: 128 * megabyte,
        maxProcesses: 2_000,
      });
      const each = "x=$(head -c 2M /dev/zero | tr '\\0' x); sleep 100; :";
      await ends(box, `for i in $(seq 200); do ( ${each} ) & done; wait`, tooMuchMemory);
    });

    test("of memory in files that only a descriptor names", async () => {
      await using box = await sandboxed({ storage, memoryBytes: 64 * megabyte });
      const script = `my $n = "m"; for (1..12) { open(my $f, ">&=", syscall(${memfd}, $n, 0)); $f->autoflush(1); print $f "x" x ${8 * megabyte}; push @all, $f } sleep 100`;
      await ends(box, `perl -MIO::Handle -e '${script}'`, tooMuchMemory);
    });

    test("of System V shared memory does not get it", async () => {
      await using box = await sandboxed({ storage });
      const script = `print defined(shmget(0, $_, 0600)) ? "yes" : "no: $!", "\\n" for 4096, ${64 * megabyte}`;
      const { stdout } = await run(box.files, `perl -e '${script}'`);
      expect(stdout).toBe("yes\nno: Invalid argument\n");
    });
  },
);

test("memory that processes share counts once", async () => {
  await using box = await sandboxed({ memoryBytes: 192 * megabyte });
  const line =
    "x=$(head -c 24M /dev/zero | tr '\\0' x); for i in $(seq 12); do ( sleep 2; : ) & done; wait; echo fine";
  expect((await run(box.files, line)).stdout).toBe("fine\n");
});

test("in memory, a program is told that there is no space left, and a command that finds none can delete", async () => {
  await using box = await sandboxed({ storage: "memory", maxTotalBytes: megabyte });
  const visit = await box.files.enter(mine);
  const { stdout, stderr } = await run(box.files, "head -c 5M /dev/zero > big; stat -c %s big");
  expect(stderr).toContain("No space left on device");
  expect(Number(stdout)).toBeLessThanOrEqual(2 * megabyte);
  await expect(box.files.write(mine, "more.txt", text("more"))).rejects.toMatchObject({
    code: "TOO_LARGE",
    message: expect.stringContaining("full"),
  });
  expect((await run(box.files, "sleep 1; rm big; echo fine")).stdout).toBe("fine\n");
  await box.files.write(mine, "more.txt", text("more"));
  await visit.leave();
  expect(await readText(box.kept, "more.txt")).toBe("more");
});

test("files in memory outlive the process that holds them", async () => {
  await using box = await sandboxed({ storage: "memory" });
  await box.kept.write(mine, "before.txt", text("before"));
  const visit = await box.files.enter(mine);
  await run(box.files, "echo new > new.txt");
  const holders = volumeHolders();
  expect(holders).toHaveLength(1);
  for (const pid of holders) process.kill(pid, "SIGKILL");
  // Until it has ended, commands still get into its mount namespace.
  await eventually(() => volumeHolders().length === 0, { what: "the end of the holder" });
  await expect(run(box.files, "ls")).rejects.toMatchObject({ code: "CONFIGURATION" });
  expect(await readText(box.files, "new.txt")).toBe("new\n");
  await visit.leave();
  expect(await readText(box.kept, "new.txt")).toBe("new\n");
  expect(await readText(box.kept, "before.txt")).toBe("before");
  expect((await run(box.files, "cat new.txt")).stdout).toBe("new\n");
});
