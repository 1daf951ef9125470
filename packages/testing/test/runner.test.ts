import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runner, spawnScript } from "../src/index.js";

const suites = fileURLToPath(new URL("./node-test/suites.mjs", import.meta.url));
const packageDirectory = fileURLToPath(new URL("..", import.meta.url));

/** Runs the suites under `node --test`; the script only passes on what that prints. */
async function nodeTest(
  store: string,
  file = suites,
): Promise<{ code: number | null; output: string }> {
  const script = spawnScript(
    `import { spawnSync } from "node:child_process";
    const { stdout, status } = spawnSync(process.execPath, ["--test", process.argv[1]]);
    process.stdout.write(stdout);
    process.exitCode = status;`,
    [file],
    { env: { STORE: store, NODE_TEST_CONTEXT: undefined } },
  );
  const { code } = await script.exited;
  return { code, output: script.lines.join("\n") };
}

test("under vitest the suites register with vitest", () => {
  expect(runner.name).toBe("vitest");
});

test("under node --test the same suites run and pass", async () => {
  const { code, output } = await nodeTest("sound");
  expect(output).toMatch(/^# pass 1\d\d$/m);
  expect(output).toMatch(/^# fail 0$/m);
  expect(output).toContain("greeter as a Plugin");
  expect(code).toBe(0);
});

test("under node --test a broken store fails them", async () => {
  const { code, output } = await nodeTest("broken");
  expect(output).toMatch(/not ok \d+ - a save based on an older revision is refused/);
  expect(output).toMatch(/ok \d+ - 40 calls on a slot run one at a time/);
  expect(code).toBe(1);
});

test("under node --test cases that hang fail, and do not hang the run", async () => {
  const hanging = fileURLToPath(new URL("./node-test/hanging.mjs", import.meta.url));
  const { code, output } = await nodeTest("sound", hanging);
  expect(output).toMatch(/took longer than 100 ms; with a slow backend raise timeoutMs/);
  expect(output).toMatch(/^# pass 1\d$/m);
  expect(output).toMatch(/^# fail 1\d$/m);
  expect(code).toBe(1);
});

test("a plain program can use the package, and no tests run in it", async () => {
  const script = spawnScript(
    `import { runner, scriptedModel } from "@holdfast/testing";
    const signal = new AbortController().signal;
    const request = { system: "", messages: [], tools: [], signal };
    for await (const chunk of scriptedModel(["hi"]).stream(request)) console.log(chunk.type);
    console.log(runner.name);`,
    [],
    { cwd: packageDirectory },
  );
  expect(await script.exited).toEqual({ code: 0, signal: null });
  expect(script.lines).toEqual(["text_delta", "text_delta", "finish", "node:test"]);
  expect(script.stderr).toBe("");
});
