import { chown, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { tempDirectory } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { findConfig } from "../../src/config/load-config.js";
import { createTerminal } from "../../src/terminal/terminal.js";
import { holdfast } from "../support/in-process.js";
import { runProcess } from "../support/process.js";

const project = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

async function withConfig(
  source: string,
  args: readonly string[],
): Promise<Awaited<ReturnType<typeof holdfast>> & { file: string }> {
  await using directory = await tempDirectory();
  const file = join(directory.path, "holdfast.config.mjs");
  await writeFile(file, source);
  const flags = ["--config", file, "--workspace", join(directory.path, "w")];
  return { ...(await holdfast([...args, ...flags])), file };
}

describe("a config file", () => {
  test("in TypeScript gives model, store, agent, prompt, tools, plugins and what else the builder takes", async () => {
    await using directory = await tempDirectory();
    await mkdir(join(directory.path, "deep/er"), { recursive: true });
    await symlink(join(project, "node_modules"), join(directory.path, "node_modules"));
    await writeFile(
      join(directory.path, "holdfast.config.ts"),
      `import { defineConfig, type HoldfastConfig } from "@holdfast/cli";
       import { tool } from "@holdfast/core";
       import { z } from "zod";
       enum Mode { Loud = "loud" }
       const seen: string[] = [];
       const config: HoldfastConfig = {
         agent: "typed", store: "json:./store", systemPrompt: "Be " + Mode.Loud, workspace: "./files",
         tools: [tool({ name: "beep", description: "Beeps.", input: z.object({}), execute: () => "beep" })],
         plugins: [{ name: "mine", contract: 1, setup: () => { seen.push("plugin"); } }],
         configure: (builder) => builder.maxIterations(3).onEvent((event) => {
           if (event.type === "call_end") process.stderr.write("configured " + seen + "\\n");
         }),
         model: { id: "typed/model", async *stream({ system, tools }) {
           const hasTool = tools.some(({ name }) => name === "beep");
           yield { type: "text_delta", text: system.startsWith("Be loud") && hasTool ? "LOUD" : "no prompt" };
           yield { type: "finish", reason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
         } },
       };
       export default defineConfig(async () => config);`,
    );
    const outcome = await runProcess(["chat", "-m", "hi", "--user", "ada"], {
      cwd: join(directory.path, "deep/er"),
    });
    expect(outcome).toMatchObject({ code: 0, stdout: "LOUD\n" });
    expect(outcome.stderr).toContain("agent typed");
    expect(outcome.stderr).toContain("configured plugin");
    expect(outcome.stderr).toContain(`config ${join(directory.path, "holdfast.config.ts")}`);
    // The other commands look into the same store.
    const listed = await runProcess(["sessions", "list", "--json"], { cwd: directory.path });
    expect(JSON.parse(listed.stdout)).toMatchObject({ sessions: [{ agentId: "typed" }] });
  });

  test("that cannot be used ends the command with 2, the file's name and the reason", async () => {
    const cases: Record<string, string> = {
      "export default { modell: 1 }": "modell",
      "export default { agent: '' }": "option agent",
      "export default { tools: {} }": "option tools",
      "export const config = {}": "no default export",
      "export default {": "holdfast.config.mjs",
      "throw new Error('no such database')": "no such database",
      "import 'a-package-that-is-not-there'; export default {}": "a-package-that-is-not-there",
      "export default () => { throw new TypeError('odd') }": "TypeError: odd",
      "export default { model: 'gpt' }": "provider/id",
      "export default { store: 'postgres://x' }": "postgres",
      "export default { configure(b) { b.maxIterations(-1) } }": "maxIterations",
      "export default { configure() { throw new Error('boom') } }":
        "cannot be used: configure: boom",
      "export default { store: {} }": "holdfast.config.mjs cannot be used: its store",
      "export default { store: { stateStore: {} } }":
        "holdfast.config.mjs cannot be used: its store",
      "export default { model: { specificationVersion: 'v1', provider: 'p', modelId: 'm' } }": "v1",
    };
    for (const [source, reason] of Object.entries(cases)) {
      const { code, stderr } = await withConfig(source, ["chat", "-m", "hi"]);
      expect({ source, code, stderr }).toEqual({
        source,
        code: 2,
        stderr: expect.stringContaining(reason),
      });
      expect(stderr).not.toContain("    at ");
    }
  });

  test("with a store that fails, and fails to close, says what it failed with first", async () => {
    const source = `
      const list = async () => { throw Object.assign(new Error("it is away"), { code: "UNAVAILABLE" }); };
      const part = { kind: "odd", list, close: async () => { throw new Error("not closed"); } };
      export default { store: { stateStore: part, log: part, gate: part, signals: part, keyValue: part } };`;
    const { code, stderr } = await withConfig(source, ["sessions", "list"]);
    expect([code, stderr]).toEqual([5, "holdfast: it is away\n"]);
  });

  test("may print what it likes: that goes to stderr, and JSON stays JSON", async () => {
    await using directory = await tempDirectory();
    await writeFile(
      join(directory.path, "holdfast.config.mjs"),
      `console.log("loading");
       export default () => { console.info("made"); return { store: "json:./store" }; };`,
    );
    const list = ["sessions", "list", "--json"];
    const { code, stdout, stderr } = await runProcess(list, { cwd: directory.path });
    expect([code, stderr]).toEqual([0, "loading\nmade\n"]);
    expect(JSON.parse(stdout)).toMatchObject({ sessions: [] });
  });

  test("that is named and is not there ends the command with 3", async () => {
    expect((await holdfast(["chat", "-m", "hi", "--config", "nowhere.ts"])).code).toBe(3);
  });

  test("is not asked when --store says which store", async () => {
    const broken = await withConfig("throw new Error('not asked')", [
      "sessions",
      "list",
      "--store",
      "json:./nowhere",
    ]);
    // That directory is not there, which is all that is complained of.
    expect([broken.code, broken.stderr]).toEqual([3, expect.stringContaining("nowhere")]);
    expect(broken.stderr).not.toContain(broken.file);
  });

  test("of another user is passed over with a warning", async () => {
    await using directory = await tempDirectory();
    await mkdir(join(directory.path, "below"));
    const file = join(directory.path, "below", "holdfast.config.js");
    await writeFile(file, "");
    // Root's own is anybody's.
    const owner = 12_345;
    if (process.getuid?.() === 0) await chown(file, owner, owner);
    const mine = process.getuid?.() === 0 ? owner : process.getuid?.();
    const err = new PassThrough({ encoding: "utf8" });
    const terminal = createTerminal({ err });
    const deeper = join(directory.path, "below");
    expect(await findConfig(terminal, deeper, mine)).toBe(file);
    expect(err.read()).toBeNull();
    expect(await findConfig(terminal, deeper, 54_321)).not.toBe(file);
    expect(err.read()).toContain("belongs to another user");
  });

  test("with a model of an AI SDK package is as good as one of Holdfast's", async () => {
    const source = `
      import { createAnthropic } from "${project}/node_modules/@ai-sdk/anthropic/dist/index.mjs";
      export default { model: createAnthropic({ apiKey: "k" })("claude-x") };`;
    const { stdout } = await withConfig(source, ["doctor", "--store", "json:./nowhere"]);
    expect(stdout).toContain("claude-x");
  });
});
