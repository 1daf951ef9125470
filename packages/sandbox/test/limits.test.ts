import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { mine, processesWith, run, sandboxed, text } from "./sandboxed.js";

const megabyte = 1_048_576;

describe("what a command in the sandbox can use up", () => {
  test("a program that wants more memory than it may have does not get it", async () => {
    await using box = await sandboxed({ memoryBytes: 128 * megabyte });
    const hog = (megabytes: number): string =>
      `head -c ${megabytes}M /dev/zero | tail -c ${megabytes}M | wc -c`;
    expect((await run(box.files, hog(32))).stdout).toBe(`${32 * megabyte}\n`);
    // More than a process may have of its own, less than it may reserve.
    const refused = await run(box.files, hog(300));
    expect(refused.stdout).toBe("0\n");
    expect(refused.stderr).toMatch(/memory/);
  });

  test("a program runs with the default limits, one that reserves much included", async () => {
    await using box = await sandboxed({ readOnlyPaths: [process.execPath] });
    expect((await run(box.files, `${process.execPath} -p '6 * 7'`)).stdout).toBe("42\n");
  });

  test("memory that is not a process's own is bounded too", async () => {
    await using box = await sandboxed({ memoryBytes: 32 * megabyte });
    const fill = (where: string): string =>
      `head -c 16M /dev/zero > ${where}/fill; stat -c %s ${where}/fill`;
    expect((await run(box.files, fill("/tmp"))).stdout).toBe(`${8 * megabyte}\n`);
    expect((await run(box.files, fill("/dev/shm"))).stdout).toBe(`${8 * megabyte}\n`);
  });

  test("a fork bomb ends at the number of processes it may have", async () => {
    await using box = await sandboxed({ maxProcesses: 12 });
    const bomb = "i=0; while [ $i -lt 40 ]; do sleep 100 & i=$((i+1)); done; echo unbounded";
    const { stdout, stderr } = await run(box.files, bomb);
    expect(stderr).toMatch(/fork/i);
    expect(stdout).not.toContain("unbounded");
    // Others have a number of their own, however many this one uses up.
    const [one, other] = await Promise.all([
      run(box.files, "sleep 1 & sleep 1 & sleep 1 & sleep 1 & sleep 1 & wait; echo fine"),
      run(box.files, "sleep 1 & sleep 1 & sleep 1 & sleep 1 & sleep 1 & wait; echo fine"),
    ]);
    expect([one?.stdout, other?.stdout]).toEqual(["fine\n", "fine\n"]);
  });

  test("a loop ends after its processor time", async () => {
    await using box = await sandboxed({ cpuSeconds: 1 });
    const { exitCode, timedOut } = await run(box.files, "while :; do :; done");
    expect(timedOut).toBe(false);
    // SIGXCPU, or SIGKILL from a shell that ignores it.
    expect([128 + 24, 128 + 9]).toContain(exitCode);
  });

  test("no file grows beyond the largest size, sparse ones included", async () => {
    await using box = await sandboxed({ maxFileBytes: megabyte });
    await run(box.files, "head -c 3M /dev/zero > big; truncate -s 1T sparse");
    const sizes = await box.files.list(mine);
    expect(sizes.map(({ path, bytes }) => [path, bytes])).toEqual([
      ["big", megabyte],
      ["sparse", 0],
    ]);
  });

  test("a timeout ends everything, what ignores signals and what left the family included", async () => {
    await using box = await sandboxed({ maxProcesses: 200 });
    const mark = `holdfast-mark-${process.pid}-${Date.now()}`;
    const stubborn = `sh -c 'trap "" TERM INT HUP; while :; do sleep 1; done' ${mark}`;
    const many = `for i in $(seq 40); do (setsid sh -c 'sleep 100; :' ${mark} >/dev/null 2>&1 &); done`;
    const line = `echo begun; ${many}; (setsid ${stubborn} >/dev/null 2>&1 &); nohup ${stubborn} >/dev/null 2>&1 & ${stubborn}`;
    const result = await run(box.files, line, { timeoutMs: 3_000 });
    expect(result).toMatchObject({ exitCode: null, timedOut: true, stdout: "begun\n" });
    expect(processesWith(mark)).toBe(0);
  });

  test("what a command leaves in the background ends with it", async () => {
    await using box = await sandboxed({ maxProcesses: 200 });
    const mark = `holdfast-mark-${process.pid}-${Date.now()}`;
    const line = `i=0; while [ $i -lt 80 ]; do setsid nohup sh -c 'sleep 100; :' ${mark} >/dev/null 2>&1 & i=$((i+1)); done; sleep 0.2; echo done`;
    expect((await run(box.files, line)).stdout).toBe("done\n");
    expect(processesWith(mark)).toBe(0);
  });

  test("an abort ends everything and rejects with its reason", async () => {
    await using box = await sandboxed();
    const mark = `holdfast-mark-${process.pid}-${Date.now()}`;
    const stop = new AbortController();
    const reason = new Error("stopped by the user");
    const visit = await box.files.enter(mine);
    const running = run(box.files, `(setsid sleep 100 &) ; sh -c 'sleep 100; :' ${mark}`, {
      signal: stop.signal,
    });
    const settled = expect(running).rejects.toBe(reason);
    await eventually(() => processesWith(mark) > 0);
    stop.abort(reason);
    await settled;
    expect(processesWith(mark)).toBe(0);
    await visit.leave();
    await expect(run(box.files, "echo never", { signal: stop.signal })).rejects.toBe(reason);
  });

  test("an abort ends a command at whatever moment it comes, also while its sandbox is being made", async () => {
    await using box = await sandboxed();
    const visit = await box.files.enter(mine);
    const mark = `holdfast-mark-${process.pid}-${Date.now()}`;
    const aborts = process.env["HOLDFAST_LONG"] === "1" ? 300 : 30;
    for (let index = 0; index < aborts; index++) {
      const stop = new AbortController();
      const running = run(box.files, `sh -c 'sleep 100; :' ${mark}`, { signal: stop.signal });
      const settled = expect(running).rejects.toThrow("stopped");
      setTimeout(() => stop.abort(new Error("stopped")), index % 30);
      await settled;
      expect(processesWith(mark)).toBe(0);
    }
    await visit.leave();
  });

  test("a flood of output is read to its end and cut to its limit", async () => {
    await using box = await sandboxed({ outputBytes: 10_000 });
    const before = process.memoryUsage().rss;
    const { stdout, stderr, truncated, exitCode } = await run(
      box.files,
      "echo first; head -c 200M /dev/zero | tr '\\0' x; echo last; head -c 5M /dev/zero | tr '\\0' y >&2",
    );
    expect(exitCode).toBe(0);
    expect(truncated).toBe(true);
    expect(stdout.length).toBeLessThan(11_000);
    expect(stderr.length).toBeLessThan(11_000);
    expect(stdout.startsWith("first\n")).toBe(true);
    expect(stdout.endsWith("last\n")).toBe(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * megabyte);
  });

  test("a command that fills the disk is stopped while it does so", async () => {
    await using box = await sandboxed({ storage: "disk", maxTotalBytes: megabyte });
    const visit = await box.files.enter(mine);
    await expect(run(box.files, "head -c 5M /dev/zero > big; sleep 60")).rejects.toMatchObject({
      code: "TOO_LARGE",
    });
    await box.files.delete(mine, "big");
    await visit.leave();
  });

  test("a command that makes files without end is stopped while it does so", async () => {
    await using box = await sandboxed({ storage: "disk", maxFiles: 100 });
    const visit = await box.files.enter(mine);
    await expect(
      run(box.files, "mkdir many; for i in $(seq 300); do : > many/$i; done; sleep 60"),
    ).rejects.toMatchObject({ code: "TOO_LARGE" });
    await run(box.files, "rm -r many");
    await visit.leave();
  });

  test("a call whose files have become too many bytes keeps none of its changes, and says so", async () => {
    await using box = await sandboxed({ maxTotalBytes: megabyte });
    await box.files.write(mine, "before.txt", text("before"));
    const visit = await box.files.enter(mine);
    await run(box.files, "echo after > before.txt; head -c 900K /dev/zero | tee one > two");
    await expect(visit.leave()).rejects.toMatchObject({
      code: "TOO_LARGE",
      message: expect.stringContaining("maxTotalBytes"),
    });
    expect(await box.kept.read(mine, "before.txt")).toEqual(text("before"));
    // The next call starts from what was kept.
    expect((await run(box.files, "cat before.txt; ls")).stdout).toBe("beforebefore.txt\n");
  });

  test("a line that no program can be given is refused", async () => {
    await using box = await sandboxed();
    const long = `: ${"x".repeat(3_000_000)}`;
    for (const line of [long, "echo a\0b"])
      await expect(run(box.files, line)).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });
});
