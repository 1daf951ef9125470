import { execFile } from "node:child_process";
import { chown } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { tempDirectory } from "@holdfast/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { SandboxBounds } from "../src/index.js";
import { mine, run, sandboxed, volumeHolders } from "./sandboxed.js";

const gigabyte = 1_073_741_824;
const onPath = async (program: string): Promise<string> =>
  (await promisify(execFile)("sh", ["-c", `command -v ${program}`])).stdout.trim();

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("how resources are bounded here", () => {
  test("files are in memory by default, and a listener is told so once at the start", async () => {
    const told: SandboxBounds[] = [];
    await using box = await sandboxed({ onBounds: (bounds) => told.push(bounds) });
    await box.files.check();
    expect(await box.files.bounds()).toEqual({
      ...{ disk: "kernel", memory: "measured", processes: "kernel", notes: [] },
    });
    expect(told).toEqual([await box.files.bounds()]);
    expect((await run(box.files, "stat -fc %T .")).stdout).toBe("tmpfs\n");
  });

  test("where no filesystem can be mounted they are on the disk, and the reason is told", async () => {
    await using box = await sandboxed({ bwrap: await onPath("bwrap") });
    await using strict = await sandboxed({ bwrap: await onPath("bwrap"), storage: "memory" });
    vi.stubEnv("PATH", "/nonexistent");
    expect(await box.files.bounds()).toMatchObject({
      disk: "measured",
      notes: [expect.stringMatching(/cannot start unshare/)],
    });
    await expect(strict.files.check()).rejects.toMatchObject({
      code: "CONFIGURATION",
      message: expect.stringMatching(/util-linux.*set storage to "disk"/),
    });
    expect((await run(box.files, "echo fine")).stdout).toBe("fine\n");
  });

  test("files that would take much of the machine's memory are on the disk", async () => {
    await using box = await sandboxed({ maxTotalBytes: 100_000 * gigabyte });
    expect(await box.files.bounds()).toMatchObject({
      disk: "measured",
      notes: [expect.stringContaining("a quarter of the machine's memory")],
    });
    await using chosen = await sandboxed({ storage: "disk" });
    expect((await chosen.files.bounds()).notes).toEqual([
      expect.stringContaining('option storage is "disk"'),
    ]);
  });

  test("commands that run as root are counted", async () => {
    if (process.getuid?.() !== 0) return;
    await using box = await sandboxed({ user: { uid: 0, gid: 0 }, maxProcesses: 12 });
    expect(await box.files.bounds()).toMatchObject({ processes: "measured" });
    const bomb = "i=0; while [ $i -lt 40 ]; do sleep 100 & i=$((i+1)); done; wait";
    await expect(run(box.files, bomb)).rejects.toMatchObject({
      code: "TOO_LARGE",
      message: expect.stringContaining("maxProcesses"),
    });
  });

  test("a listener that throws keeps nothing from running", async () => {
    const onBounds = (): void => {
      throw new Error("broken listener");
    };
    await using box = await sandboxed({ onBounds });
    expect((await run(box.files, "echo fine")).stdout).toBe("fine\n");
  });

  test("a visit holds its files in memory until it leaves", async () => {
    await using box = await sandboxed({ storage: "memory" });
    const visit = await box.files.enter(mine);
    expect(volumeHolders()).toHaveLength(1);
    await visit.leave();
    expect(volumeHolders()).toEqual([]);
  });

  test("whatever fills the disk, a command that leaves too little free is ended", async () => {
    await using directory = await tempDirectory();
    const sandbox = new URL("../dist/index.js", import.meta.url);
    const script = `
      import { InMemoryFilesystem } from "@holdfast/core";
      import { SandboxFilesystem } from ${JSON.stringify(sandbox.href)};
      const files = new SandboxFilesystem({
        files: new InMemoryFilesystem(), scratch: process.argv.at(-1), storage: "disk", user: { uid: 0, gid: 0 },
      });
      const namespace = { agentId: "a", userId: "u", sessionId: "s" };
      const signal = new AbortController().signal;
      const run = (command) => files.run(namespace, { command, timeoutMs: 60_000, signal });
      console.log((await run("echo fine")).stdout);
      await run("head -c 20M /dev/zero > big; sleep 100").catch(({ code, message }) => console.log(code, message));
      await files.close();
    `;
    const own = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
    const mount = 'mount -t tmpfs -o size=20m,mode=0755 test "$1" && shift && exec "$@"';
    const { stdout } = await promisify(execFile)(
      "unshare",
      [
        ...[...own, "--mount", "--", "sh", "-c", mount, "sh", directory.path],
        ...[process.execPath, "--input-type=module", "-e", script, directory.path],
      ],
      { cwd: fileURLToPath(new URL("..", import.meta.url)) },
    );
    expect(stdout).toMatch(/^fine\n\nUNAVAILABLE .*scratch directory has only \d+ bytes left/);
  });

  test("a process that hides its open files from a host that is not root is shown, or ended", async () => {
    await using directory = await tempDirectory();
    const isRoot = process.getuid?.() === 0;
    if (isRoot) await chown(directory.path, 65_534, 65_534);
    const sandbox = new URL("../dist/index.js", import.meta.url);
    const memfd = process.arch === "arm64" ? 279 : 319;
    const prctl = process.arch === "arm64" ? 167 : 157;
    const hog = `my $n = "m"; for (1..12) { open(my $f, ">&=", syscall(${memfd}, $n, 0)); $f->autoflush(1); print $f "x" x 8388608; push @all, $f } sleep 100`;
    const commands = [
      `perl -MIO::Handle -e 'syscall(${prctl}, 4, 0, 0, 0, 0); ${hog}'`,
      `cp /usr/bin/perl unreadable; chmod 111 unreadable; ./unreadable -MIO::Handle -e '${hog}'`,
    ];
    const script = `
      import { InMemoryFilesystem } from "@holdfast/core";
      import { SandboxFilesystem } from ${JSON.stringify(sandbox.href)};
      const scratch = process.argv.at(-1);
      // Once everything is loaded, which only root may be able to read.
      process.chdir(scratch);
      if (${isRoot}) {
        process.setgroups([]);
        process.setgid(65_534);
        process.setuid(65_534);
      }
      const files = new SandboxFilesystem({
        files: new InMemoryFilesystem(), scratch, memoryBytes: 64 * 1_048_576,
      });
      const namespace = { agentId: "a", userId: "u", sessionId: "s" };
      const signal = new AbortController().signal;
      for (const command of ${JSON.stringify(commands)})
        await files.run(namespace, { command, timeoutMs: 60_000, signal }).catch(({ code }) => console.log(code));
      await files.close();
    `;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module", "-e", script, directory.path],
      { cwd: fileURLToPath(new URL("..", import.meta.url)) },
    );
    expect(stdout).toBe("TOO_LARGE\nINVALID_INPUT\n");
  });
});
