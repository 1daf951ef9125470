import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  ConfigurationError,
  InMemoryAgentStateStore,
  InMemoryFilesystem,
  InMemoryKeyValueStore,
} from "@holdfast/core";
import { tempDirectory } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import {
  SandboxFilesystem,
  type SandboxFilesystemOptions,
  SandboxFilesystemSpec,
} from "../src/index.js";
import { mine, readText, run, sandboxed, text } from "./sandboxed.js";

async function problemOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (ConfigurationError.is(error)) return error.message;
    throw error;
  }
  return "no problem";
}

/** A program that answers as bubblewrap would. */
async function fakeBwrap(directory: string, script: string): Promise<string> {
  const path = join(directory, "bwrap");
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

describe("whether commands can be run here", () => {
  test("a machine without bubblewrap says so at the first call, and files work all the same", async () => {
    await using box = await sandboxed({ bwrap: "no-such-program" });
    await box.files.write(mine, "a.txt", text("a"));
    expect(await readText(box.files, "a.txt")).toBe("a");
    for (const attempt of [
      () => box.files.check(),
      () => box.files.enter(mine),
      () => run(box.files, "true"),
    ])
      expect(await problemOf(attempt)).toMatch(/"no-such-program".*apt-get install bubblewrap/);
  });

  test("a bubblewrap that is too old, or forbidden to work, is named with what helps", async () => {
    await using directory = await tempDirectory();
    await chmod(directory.path, 0o755);
    const check = async (script: string): Promise<string> => {
      await using box = await sandboxed({ bwrap: await fakeBwrap(directory.path, script) });
      return problemOf(() => box.files.check());
    };
    expect(await check("echo bubblewrap 0.6.1")).toMatch(/version 0\.6.*0\.8 or newer/);
    expect(await check("echo something else")).toMatch(/does not report its version/);
    const version = '[ "$1" = --version ] && echo bubblewrap 0.9.0 && exit';
    const said = "bwrap: No permissions to create a new namespace";
    expect(await check(`${version}\necho '${said}' >&2; exit 1`)).toMatch(
      /No permissions.*sysctl kernel.unprivileged_userns_clone=1/,
    );
  });

  test("what was missing is found once it is there", async () => {
    await using directory = await tempDirectory();
    await chmod(directory.path, 0o755);
    const bwrap = await fakeBwrap(directory.path, "exit 1");
    await using box = await sandboxed({ bwrap });
    expect(await problemOf(() => box.files.check())).not.toBe("no problem");
    await fakeBwrap(directory.path, 'exec bwrap "$@"');
    expect((await run(box.files, "echo fine")).stdout).toBe("fine\n");
  });

  test("a scratch directory that is of no use is named", async () => {
    await using directory = await tempDirectory();
    const missing = join(directory.path, "missing");
    await using box = await sandboxed({ scratch: missing });
    expect(await problemOf(() => box.files.check())).toContain(missing);
    if (process.getuid?.() !== 0) return;
    const closed = join(directory.path, "closed");
    await mkdir(closed, { mode: 0o700 });
    await using other = await sandboxed({ scratch: closed });
    expect(await problemOf(() => other.files.check())).toMatch(/user 65534 cannot reach/);
  });

  test("a path to show that is not there is named", async () => {
    await using box = await sandboxed({ readOnlyPaths: ["/no/such/path"] });
    expect(await problemOf(() => box.files.check())).toMatch(
      /readOnlyPaths names \/no\/such\/path/,
    );
  });

  test.each<[string, object]>([
    ["bwrap", { bwrap: "" }],
    ["scratch", { scratch: "relative" }],
    ["storage", { storage: "tape" }],
    ["onBounds", { onBounds: "log" }],
    ["memoryBytes", { memoryBytes: 1 }],
    ["maxProcesses", { maxProcesses: 0 }],
    ["cpuSeconds", { cpuSeconds: 1.5 }],
    ["outputBytes", { outputBytes: -1 }],
    ["maxFileBytes", { maxFileBytes: "much" }],
    ["readOnlyPaths.0", { readOnlyPaths: ["relative"] }],
    ["readOnlyPaths.0", { readOnlyPaths: ["/proc/"] }],
    ["readOnlyPaths.1", { readOnlyPaths: ["/opt", "/"] }],
    ["environment", { environment: { "NOT A NAME": "x" } }],
    ["user.uid", { user: { uid: -1, gid: 0 } }],
    ["files", { files: {} }],
    ["unknown", { unknown: true }],
  ])("a wrong option %s is refused when the filesystem is made", (name, options) => {
    const make = (): unknown =>
      new SandboxFilesystem({
        files: new InMemoryFilesystem(),
        ...options,
      } as SandboxFilesystemOptions);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(name);
    if (name !== "files")
      expect(() => new SandboxFilesystemSpec(options)).toThrow(ConfigurationError);
  });

  test("the spec makes one on the key-value store, with the workspace's shared files, without I/O", async () => {
    const spec = new SandboxFilesystemSpec({ maxProcesses: 32 });
    expect(spec.kind).toBe("sandbox");
    expect(spec.needs).toBe("distributed");
    await using workspace = await tempDirectory();
    await chmod(workspace.path, 0o755);
    await writeFile(join(workspace.path, "AGENTS.md"), "be kind");
    const keyValue = new InMemoryKeyValueStore();
    const parts = {
      workspace: workspace.path,
      keyValue,
      stateStore: new InMemoryAgentStateStore(),
    };
    const files = spec.create(parts);
    expect(files.kind).toBe("sandbox");
    expect(files.reach).toBe(keyValue.reach);
    expect(await files.shared?.read("AGENTS.md")).toEqual(text("be kind"));
    const signal = new AbortController().signal;
    const command = { command: "cat /shared/AGENTS.md; echo x > x", timeoutMs: 60_000, signal };
    expect((await files.run?.(mine, command))?.stdout).toBe("be kind");
    await files.close?.();
    expect(await readText(new SandboxFilesystemSpec().create(parts), "x")).toBe("x\n");
  });
});
