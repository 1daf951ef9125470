import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { tempDirectory } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { filePaths, mine, readText, run, sandboxed, text } from "./sandboxed.js";

describe.each(["memory", "disk"] as const)(
  "what a command plants among its files in %s",
  (storage) => {
    test("links reach nothing outside, for reading, writing or deleting, and are not kept", async () => {
      await using outside = await tempDirectory();
      const secret = join(outside.path, "secret.txt");
      await writeFile(secret, "secret");
      await mkdir(join(outside.path, "inner"));
      await writeFile(join(outside.path, "inner/deep.txt"), "secret");
      await using box = await sandboxed({ storage });
      const visit = await box.files.enter(mine);
      await run(
        box.files,
        `ln -s ${secret} file; ln -s ${outside.path} dir; ln -s / root; ln -s nowhere dangling; ln -s ${outside.path}/made new; echo x > real; ln real hard`,
      );
      for (const path of ["file", "dir/secret.txt", "dir/inner/deep.txt", "root/etc/shadow"]) {
        const refused = { code: "INVALID_INPUT" };
        await expect(box.files.read(mine, path)).rejects.toMatchObject(refused);
        await expect(box.files.append(mine, path, text("x"))).rejects.toMatchObject(refused);
        await expect(box.files.write(mine, path, text("x"))).rejects.toMatchObject(refused);
      }
      for (const path of ["dangling", "new"])
        await expect(box.files.append(mine, path, text("x"))).rejects.toMatchObject({
          code: "INVALID_INPUT",
        });
      await expect(box.files.delete(mine, "dir/secret.txt")).rejects.toThrow();
      expect(await filePaths(box.files)).toEqual(["hard", "real"]);
      await visit.leave();
      expect(await filePaths(box.kept)).toEqual(["hard", "real"]);
      expect(await readFile(secret, "utf8")).toBe("secret");
      expect((await readdir(outside.path)).sort()).toEqual(["inner", "secret.txt"]);
      expect(await readdir(join(outside.path, "inner"))).toEqual(["deep.txt"]);
    });

    test("a link in place of a kept file does not bring a file of the machine into the store", async () => {
      await using box = await sandboxed({ storage });
      await box.files.write(mine, "a.txt", text("mine"));
      await box.files.write(mine, "d/b.txt", text("mine"));
      await run(box.files, "rm -r a.txt d; ln -s /etc/hostname a.txt; ln -s /etc d");
      expect(await filePaths(box.kept)).toEqual([]);
    });

    test("files are whole or absent while a command swaps them for links", async () => {
      await using outside = await tempDirectory();
      await writeFile(join(outside.path, "f"), "secret");
      await using box = await sandboxed({ storage });
      const visit = await box.files.enter(mine);
      const swap = `mkdir d e; echo mine > e/f; ln -s ${outside.path} l; touch ready; while [ ! -e stop ]; do mv -T d x; mv -T l d; mv -T d l; mv -T x d; cp e/f d/f; done`;
      const swapping = run(box.files, swap);
      const seen = new Map<string, number>();
      const note = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
      for (let turn = 0; turn < 100_000 && (seen.get("refused") ?? 0) < 20; turn++) {
        try {
          note((await readText(box.files, "d/f")) ?? "absent");
        } catch {
          note("refused");
        }
        if (turn % 50 === 0) await box.files.list(mine);
      }
      await box.files.write(mine, "stop", text(""));
      await swapping;
      await visit.leave();
      expect(seen.get("refused")).toBeGreaterThan(0);
      // A file that the command itself is just writing may be read in part.
      const expected = ["refused", "absent", "mine\n"];
      expect(
        [...seen.keys()].filter((what) => !expected.some((each) => each.startsWith(what))),
      ).toEqual([]);
      expect(await readFile(join(outside.path, "f"), "utf8")).toBe("secret");
      for (const path of await filePaths(box.kept))
        expect(await readText(box.kept, path)).not.toContain("secret");
    });

    test("pipes and sockets make nobody wait and are not kept", async () => {
      await using box = await sandboxed({ storage });
      const visit = await box.files.enter(mine);
      const bind = `perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0) && bind(S, sockaddr_un("socket")) or die'`;
      const { exitCode } = await run(
        box.files,
        `mkfifo pipe && ${bind} && test -S socket && echo x > real`,
      );
      expect(exitCode).toBe(0);
      for (const path of ["pipe", "socket"]) {
        await expect(box.files.read(mine, path)).rejects.toMatchObject({ code: "INVALID_INPUT" });
        await expect(box.files.append(mine, path, text("x"))).rejects.toMatchObject({
          code: "INVALID_INPUT",
        });
      }
      await visit.leave();
      expect(await filePaths(box.kept)).toEqual(["real"]);
    });

    test("what no path can say is refused and removed all the same", async () => {
      await using box = await sandboxed({ storage });
      const visit = await box.files.enter(mine);
      const deeper =
        "p=$(yes directory/ | head -300 | tr -d '\\n'); echo > deep; for i in 1 2; do mkdir -p next/$p; mv deep next/$p; mv next deep; done; find . | tail -1 | wc -c";
      // Longer than a path may be.
      expect(Number((await run(box.files, deeper)).stdout)).toBeGreaterThan(6_000);
      await expect(visit.leave()).rejects.toMatchObject({ code: "TOO_LARGE" });
      const [own] = await readdir(box.scratch);
      expect(await readdir(join(box.scratch, own ?? ""))).toEqual(["etc"]);
      expect((await run(box.files, "ls -A")).stdout).toBe("");
    });

    test("names that are not UTF-8 are left out, odd ones are kept", async () => {
      await using box = await sandboxed({ storage });
      const visit = await box.files.enter(mine);
      await run(
        box.files,
        "echo 1 > $(printf 'bad\\377'); echo 2 > \"$(printf 'new\\nline')\"; echo 3 > ' -rf *'; echo 4 > 'ünï'",
      );
      expect(await filePaths(box.files)).toEqual([" -rf *", "new\nline", "ünï"]);
      await visit.leave();
      expect(await filePaths(box.kept)).toEqual([" -rf *", "new\nline", "ünï"]);
      expect((await run(box.files, "cat ./*")).stdout).toBe("3\n2\n4\n");
    });

    test("files and directories without rights are kept and removed all the same, as any user", async () => {
      await using box = await sandboxed({ storage });
      const visit = await box.files.enter(mine);
      await run(
        box.files,
        "mkdir -p d/e; echo 1 > d/e/f; echo 2 > g; chmod 000 d/e/f g; chmod 500 d; chmod 000 d/e; chmod 000 d",
      );
      await visit.leave();
      expect(await filePaths(box.kept)).toEqual(["d/e/f", "g"]);
    });

    test("set-id bits of a planted program mean nothing outside", async () => {
      await using box = await sandboxed({ storage: "disk" });
      const visit = await box.files.enter(mine);
      await run(box.files, "cp /bin/true program; chmod 6755 program");
      const [own] = await readdir(box.scratch);
      const rooms = join(box.scratch, own ?? "");
      const { stdout } = await promisify(execFile)("find", [rooms, "-name", "program"]);
      const planted = await stat(stdout.trim());
      // A process that finds it cannot get to it: the directory is one user's alone.
      const room = await stat(join(stdout.trim(), ".."));
      expect(planted.uid).toBe(room.uid);
      expect(room.mode & 0o777).toBe(0o700);
      if (process.getuid?.() === 0) expect(planted.uid).not.toBe(0);
      await visit.leave();
    });
  },
);
