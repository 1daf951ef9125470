import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { tempDirectory } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { main } from "./support/command.js";
import { holdfast } from "./support/in-process.js";
import { CommandProcess, runProcess } from "./support/process.js";
import { testProject } from "./support/test-project.js";

describe("the command", () => {
  test("shows what there is, and its version", async () => {
    const help = await holdfast(["--help"]);
    expect(help.code).toBe(0);
    for (const name of ["chat", "demo", "doctor", "migrate", "sessions"])
      expect(help.stdout).toMatch(new RegExp(`^ {2}${name}`, "mu"));
    expect((await holdfast(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/u);
  });

  test("ends with 2 for what it does not know", async () => {
    for (const args of [["nonsense"], ["sessions", "list", "--nonsense"], ["sessions", "show"]])
      expect((await holdfast(args)).code).toBe(2);
    const limit = await holdfast(["sessions", "list", "--limit", "0"]);
    expect(limit).toMatchObject({ code: 2, stderr: expect.stringContaining("1 to 1000") });
    const both = await holdfast(["sessions", "list", "--user", "ada", "--anonymous"]);
    expect(both.code).toBe(2);
  });

  test("loads no engine, store or SDK to show its help", async () => {
    // Every package that is loaded says so.
    const hook = `export async function load(url, context, next) { if (/holdfast[/](core|harness|store-)|zod|ioredis|mysql2|jiti|packages[/](core|harness)/.test(url)) console.error("loaded", url); return next(url, context); }`;
    const register = `import { register } from "node:module"; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)});`;
    const shown = await runProcess(["sessions", "list", "--help"], {
      env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(register)}` },
    });
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toContain("--cursor");
  });

  test("ends with 5, soon, when a store is down, and never shows the password", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    server.close();
    await once(server, "close");
    for (const scheme of ["redis", "rediss", "mysql"]) {
      const url = `${scheme}://ada:hunter2@127.0.0.1:${port}/${scheme === "mysql" ? "holdfast" : "0"}`;
      const outcome = await holdfast(["sessions", "list", "--store", url]);
      expect(outcome).toMatchObject({ code: 5, stderr: expect.stringContaining("refused") });
      expect(outcome.stderr).toContain("ada@127.0.0.1");
      expect(outcome.stdout + outcome.stderr).not.toContain("hunter2");
    }
    const process = await runProcess([
      "chat",
      "-m",
      "hi",
      "--store",
      `redis://:hunter2@127.0.0.1:${port}`,
    ]);
    expect(process.code).toBe(5);
    expect(process.stderr).not.toContain("hunter2");
  });

  test("ends with 1 when what was asked for cannot be written", async () => {
    await using project = await testProject();
    for (const command of ["--help", `chat -m hi --store ${project.store}`]) {
      const script = `exec "$0" "$1" ${command} > /dev/full`;
      const shell = spawn("sh", ["-c", script, process.execPath, main], { cwd: project.path });
      let stderr = "";
      shell.stderr.on("data", (text) => {
        stderr += text;
      });
      const [code] = await once(shell, "close");
      expect([code, stderr]).toEqual([1, expect.stringContaining("stdout cannot be written")]);
    }
  });

  test("ends quietly when nobody reads any further", async () => {
    await using directory = await tempDirectory();
    await using command = new CommandProcess(["--help"], { cwd: directory.path, input: "" });
    command.child.stdout.destroy();
    expect(await command.ended).toBe(0);
    expect(command.stderr).toBe("");
  });

  test("colours a terminal only, unless the environment says otherwise", async () => {
    await using project = await testProject();
    const list = ["doctor", "--store", project.store, "--workspace", project.path];
    const esc = "\u001b[";
    const outcome = async (env: Record<string, string>, isTerminal: boolean): Promise<string> =>
      (await holdfast(list, { env, isTerminal })).stdout;
    expect(await outcome({}, false)).not.toContain(esc);
    expect(await outcome({}, true)).toContain(esc);
    expect(await outcome({ NO_COLOR: "1" }, true)).not.toContain(esc);
    expect(await outcome({ TERM: "dumb" }, true)).not.toContain(esc);
    expect(await outcome({ FORCE_COLOR: "1" }, false)).toContain(esc);
    const json = await holdfast([...list, "--json"], {
      env: { FORCE_COLOR: "1" },
      isTerminal: true,
    });
    expect(json.json()).toMatchObject({ ok: true });
    expect(json.stdout).not.toContain(esc);
  });
});
