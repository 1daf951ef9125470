import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, open, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { tempDirectory } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { run, sandboxed, text, yours } from "./sandboxed.js";

describe("what a command in the sandbox can reach", () => {
  test("a command reads and writes the namespace's files, at /workspace", async () => {
    await using box = await sandboxed();
    await box.files.write({ agentId: "agent", userId: "me", sessionId: "s" }, "in.txt", text("in"));
    const result = await run(box.files, "pwd; cat in.txt; echo out > out.txt; echo no >&2; exit 3");
    expect(result).toEqual({
      exitCode: 3,
      stdout: "/workspace\nin",
      stderr: "no\n",
      timedOut: false,
      truncated: false,
    });
    expect(
      await box.kept.read({ agentId: "agent", userId: "me", sessionId: "s" }, "out.txt"),
    ).toEqual(text("out\n"));
  });

  test("a command starts in its working directory, which must be there and inside", async () => {
    await using box = await sandboxed();
    await run(box.files, "mkdir -p a/b && touch a/b/file");
    expect((await run(box.files, "pwd", { workingDirectory: "a/b" })).stdout).toBe(
      "/workspace/a/b\n",
    );
    for (const workingDirectory of ["nowhere", "a/b/file", "..", "/etc"])
      await expect(run(box.files, "pwd", { workingDirectory })).rejects.toMatchObject({
        code: "INVALID_INPUT",
      });
  });

  test("there is no network: not the machine's loopback, not a name server", async () => {
    const server = createServer((socket) => socket.end("reached\n")).listen(0, "127.0.0.1");
    try {
      await once(server, "listening");
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      const connect = `bash -c 'read answer < /dev/tcp/127.0.0.1/${port} && echo $answer'`;
      const resolve = "getent hosts example.com && echo resolved";
      const outside = await promisify(execFile)("sh", ["-c", connect]);
      expect(outside.stdout).toBe("reached\n");
      await using box = await sandboxed();
      const inside = await run(box.files, `${connect}; ${resolve}`);
      expect(inside.stdout).toBe("");
      expect(inside.stderr).toMatch(/refused/);
      const interfaces = await run(box.files, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '");
      expect(interfaces.stdout).toBe("lo\n");
    } finally {
      server.close();
    }
  });

  test("nothing but the workspace and temporary directories can be written", async () => {
    await using box = await sandboxed();
    const places = "/ /usr /etc /dev /proc /bin /lib /var /usr/bin";
    const { stdout } = await run(
      box.files,
      `for d in ${places} /tmp /dev/shm /var/tmp /workspace; do (echo x > $d/probe) 2>/dev/null && echo $d; done`,
    );
    expect(stdout).toBe("/tmp\n/dev/shm\n/var/tmp\n/workspace\n");
    expect((await run(box.files, "echo 1 > /proc/sys/kernel/core_pattern")).exitCode).not.toBe(0);
  });

  test("the machine's accounts, homes and projects are not there", async () => {
    await using box = await sandboxed();
    const project = fileURLToPath(new URL("..", import.meta.url));
    const { stdout } = await run(
      box.files,
      `ls -d /etc/shadow /etc/hostname /etc/ssh /home /root /var/lib /run /sys /mnt /srv /boot '${project}' '${box.scratch}' 2>/dev/null; ls -A /`,
    );
    expect(
      stdout
        .trim()
        .split("\n")
        .filter((name) => name.startsWith("/")),
    ).toEqual([]);
    const known = /^(bin|dev|etc|lib\w*|proc|sbin|tmp|usr|var|workspace)$/;
    expect(
      stdout
        .trim()
        .split("\n")
        .filter((name) => !known.test(name)),
    ).toEqual([]);
    const { stdout: accounts } = await run(box.files, "cut -d: -f1 /etc/passwd; id -un; id -u");
    expect(accounts).toBe("agent\nnobody\nagent\n1000\n");
  });

  test("another user's files are not there, even while that user's call is running", async () => {
    await using box = await sandboxed();
    const visit = await box.files.enter(yours);
    await box.files.write(yours, "secret.txt", text("yours"));
    const { stdout } = await run(
      box.files,
      "ls -A /workspace; find / -path /usr -prune -o -path /proc -prune -o -name secret.txt -print",
    );
    expect(stdout).toBe("");
    await visit.leave();
  });

  test("paths of the machine can be opened, for reading only", async () => {
    await using shown = await tempDirectory();
    await chmod(shown.path, 0o755);
    await writeFile(join(shown.path, "data.txt"), "data");
    await using box = await sandboxed({ readOnlyPaths: [shown.path] });
    const { stdout, exitCode } = await run(
      box.files,
      `cat ${shown.path}/data.txt; echo changed > ${shown.path}/data.txt`,
    );
    expect(stdout).toBe("data");
    expect(exitCode).not.toBe(0);
  });

  test("shared files of the workspace directory are at /shared, and nothing else of it is", async () => {
    await using workspace = await tempDirectory();
    await chmod(workspace.path, 0o755);
    await mkdir(join(workspace.path, "skills/greet"), { recursive: true });
    await writeFile(join(workspace.path, "skills/greet/run.sh"), "echo hello");
    await mkdir(join(workspace.path, "users/you"), { recursive: true });
    await using box = await sandboxed({ sharedDirectory: workspace.path });
    const { stdout } = await run(
      box.files,
      "sh /shared/skills/greet/run.sh; ls /shared; echo x > /shared/skills/x || echo refused",
    );
    expect(stdout).toBe("hello\nskills\nrefused\n");
  });

  test("the environment holds what was configured and nothing of this process's", async () => {
    process.env["HOLDFAST_TEST_SECRET"] = "a secret";
    try {
      await using box = await sandboxed({ environment: { GREETING: "hello", LANG: "C" } });
      const { stdout } = await run(box.files, "env; cat /proc/1/environ | tr '\\0' '\\n'");
      const names = stdout
        .trim()
        .split("\n")
        .map((line) => line.split("=", 1)[0]);
      expect([...new Set(names)].sort()).toEqual(
        ["GREETING", "HOME", "LANG", "PATH", "PWD", "TMPDIR", "USER"].sort(),
      );
      expect(stdout).toContain("GREETING=hello");
      expect(stdout).toContain("LANG=C\n");
    } finally {
      delete process.env["HOLDFAST_TEST_SECRET"];
    }
  });

  test("nobody on the machine sees configured variables among the arguments of programs", async () => {
    await using box = await sandboxed({ environment: { TOKEN: "t-0123456789" } });
    const { stdout } = await run(box.files, "cat /proc/*/cmdline | tr '\\0' ' '; echo $TOKEN");
    expect(stdout.match(/t-0123456789/g)).toHaveLength(1);
  });

  test("no file that this process was started with is open in a command", async () => {
    await using directory = await tempDirectory();
    await chmod(directory.path, 0o755);
    const sandbox = new URL("../dist/index.js", import.meta.url);
    const script = `
      import { InMemoryFilesystem } from "@holdfast/core";
      import { SandboxFilesystem } from ${JSON.stringify(sandbox.href)};
      const files = new SandboxFilesystem({ files: new InMemoryFilesystem(), scratch: process.argv.at(-1) });
      const namespace = { agentId: "a", userId: "u", sessionId: "s" };
      const command = { command: "ls -l /proc/self/fd", timeoutMs: 60_000, signal: new AbortController().signal };
      console.log((await files.run(namespace, command)).stdout);
      await files.close();`;
    const handle = await open(directory.path);
    // High enough for Node not to take it for one of its own.
    const stdio = [...new Array<"ignore" | "pipe">(40).fill("ignore").with(1, "pipe"), handle.fd];
    const args = ["--input-type=module", "--eval", script, "--", directory.path];
    const cwd = fileURLToPath(new URL("..", import.meta.url));
    const child = spawn(process.execPath, args, { cwd, stdio });
    const stdout = await textOf(child.stdout ?? Readable.from([]));
    await handle.close();
    expect(stdout).toContain("0 -> /dev/null");
    const high = stdout.match(/\b\d{2,} -> .*/g) ?? [];
    expect(high).toContain("40 -> /dev/null");
    expect(high.filter((line) => !line.endsWith("/dev/null"))).toEqual([]);
  });

  test("a command is nobody special and cannot become so", async () => {
    await using box = await sandboxed();
    const { stdout } = await run(
      box.files,
      "grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status | tr -d '\\t'; unshare -U true 2>/dev/null && echo nested; mount -t tmpfs none /tmp 2>/dev/null && echo mounted",
    );
    expect(stdout).toBe("CapEff:0000000000000000\nCapBnd:0000000000000000\nNoNewPrivs:1\n");
  });

  test("temporary directories are empty at the start of each command", async () => {
    await using box = await sandboxed();
    await run(box.files, "echo x > /tmp/left; echo x > /dev/shm/left");
    expect((await run(box.files, "ls -A /tmp /dev/shm | grep left")).stdout).toBe("");
  });
});
