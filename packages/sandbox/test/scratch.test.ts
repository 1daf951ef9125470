import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { InMemoryFilesystem } from "@holdfast/core";
import { eventually, spawnScript, tempDirectory } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import {
  isDead,
  ownScratchOwner,
  scratchOwnerIn,
  scratchPrefix,
} from "../src/files/scratch-owner.js";
import { SandboxFilesystem } from "../src/index.js";
import { mine, processesWith, run, sandboxed } from "./sandboxed.js";

const sandbox = new URL("../dist/index.js", import.meta.url);
const child = `
  import { InMemoryFilesystem } from "@holdfast/core";
  import { SandboxFilesystem } from ${JSON.stringify(sandbox.href)};
  const files = new SandboxFilesystem({ files: new InMemoryFilesystem(), scratch: process.argv.at(-1) });
  const namespace = { agentId: "a", userId: "u", sessionId: "s" };
  await files.enter(namespace);
  const signal = new AbortController().signal;
  await files.run(namespace, { command: "echo x > left; mkdir d; chmod 000 d", timeoutMs: 60_000, signal });
  console.log("in");
  const line = "setsid sh -c 'while :; do date > tick; sleep 0.01; done' 'named " + process.argv.at(-2) + "'";
  await files.run(namespace, { command: line, timeoutMs: 60_000, signal });
`;
const cwd = fileURLToPath(new URL("..", import.meta.url));

describe("scratch directories of processes that end", () => {
  test("a killed process takes its commands with it, and the next start removes its directory", async () => {
    await using box = await sandboxed();
    const mark = `holdfast-mark-${process.pid}-${Date.now()}`;
    await using script = spawnScript(child, [mark, box.scratch], { cwd });
    await script.line("in");
    await eventually(() => processesWith(`named ${mark}`) > 0);
    const [left] = await readdir(box.scratch);
    await box.files.check();
    expect(await readdir(box.scratch)).toContain(left);
    await script.kill9();
    // The kernel may still be ending what the killed process had started.
    await eventually(() => processesWith(`named ${mark}`) === 0);
    await eventually(async () => {
      const again = new SandboxFilesystem({
        files: new InMemoryFilesystem(),
        scratch: box.scratch,
      });
      await again.check();
      await again.close();
      return !(await readdir(box.scratch)).includes(left ?? "");
    });
    expect((await run(box.files, "echo fine")).stdout).toBe("fine\n");
  });

  test("a killed process leaves nothing in memory", async () => {
    await using box = await sandboxed();
    const script = `
      import { readFileSync } from "node:fs";
      import { InMemoryFilesystem } from "@holdfast/core";
      import { SandboxFilesystem } from ${JSON.stringify(sandbox.href)};
      const files = new SandboxFilesystem({ files: new InMemoryFilesystem(), scratch: process.argv.at(-1), storage: "memory" });
      await files.enter({ agentId: "a", userId: "u", sessionId: "s" });
      console.log("holder " + readFileSync("/proc/self/task/" + process.pid + "/children", "utf8").trim());
      setInterval(() => {}, 1_000);
    `;
    await using child = spawnScript(script, [box.scratch], { cwd });
    const holder = (await child.line((line) => line.startsWith("holder "))).slice(7);
    expect(holder).toMatch(/^\d+$/);
    expect(existsSync(`/proc/${holder}`)).toBe(true);
    await child.kill9();
    // One that nobody waits for stays in the list of processes, without arguments.
    await eventually(() => {
      const file = `/proc/${holder}/cmdline`;
      return !existsSync(file) || readFileSync(file, "utf8") === "";
    });
  });

  test("what is not surely a dead process's scratch directory is left alone", async () => {
    await using directory = await tempDirectory();
    await chmod(directory.path, 0o755);
    const here = ownScratchOwner();
    const dead = { ...here, pid: 2 ** 22 - 1, start: "1" };
    const names = [
      `${scratchPrefix(here)}alive`,
      `${scratchPrefix({ ...dead, machine: "elsewhere" })}x`,
      `${scratchPrefix({ ...dead, container: "another" })}x`,
      "holdfast-sandbox-of-a-user",
      "unrelated",
    ];
    for (const name of names) await mkdir(join(directory.path, name, "d"), { recursive: true });
    await using outside = await tempDirectory();
    await writeFile(join(outside.path, "kept"), "");
    await symlink(outside.path, join(directory.path, `${scratchPrefix(dead)}link`));
    await mkdir(join(directory.path, `${scratchPrefix(dead)}gone`));
    await mkdir(join(directory.path, `${scratchPrefix({ ...dead, boot: "earlier" })}gone`));
    const files = new SandboxFilesystem({
      files: new InMemoryFilesystem(),
      scratch: directory.path,
    });
    await files.check();
    await files.close();
    expect((await readdir(directory.path)).sort()).toEqual(
      [...names, `${scratchPrefix(dead)}link`].sort(),
    );
    expect(await readdir(outside.path)).toEqual(["kept"]);
  });

  test("a process is known by its number and its start", () => {
    const here = ownScratchOwner();
    expect(scratchOwnerIn(`${scratchPrefix(here)}abc123`)).toEqual(here);
    expect(isDead(here, here)).toBe(false);
    expect(isDead({ ...here, start: "1" }, here)).toBe(true);
    expect(isDead({ ...here, pid: 1 }, here)).toBe(true);
    for (const name of ["holdfast-sandbox", "holdfast-sandbox-1-2-3", "a-1-2-3-4-5-6"])
      expect(scratchOwnerIn(name)).toBeNull();
  });

  test("two filesystems of one process have nothing in common on the disk", async () => {
    await using one = await sandboxed();
    await using two = await sandboxed({ scratch: one.scratch });
    await one.files.enter(mine);
    await two.files.enter(mine);
    await run(one.files, "echo 1 > file");
    expect((await run(two.files, "ls")).stdout).toBe("");
    await two.files.close();
    expect((await run(one.files, "cat file")).stdout).toBe("1\n");
  });
});
