import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { anthropicServer, googleServer, openAiServer } from "@holdfast/provider-rigs";
import { tempDirectory } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { holdfast } from "../support/in-process.js";
import { runProcess } from "../support/process.js";

const providers = [
  {
    name: "anthropic",
    start: anthropicServer,
    key: "ANTHROPIC_API_KEY",
    base: "ANTHROPIC_BASE_URL",
  },
  { name: "openai", start: openAiServer, key: "OPENAI_API_KEY", base: "OPENAI_BASE_URL" },
  {
    name: "google",
    start: googleServer,
    key: "GOOGLE_GENERATIVE_AI_API_KEY",
    base: "GOOGLE_GENERATIVE_AI_BASE_URL",
  },
] as const;

describe.each(providers)("$name", ({ name, start, key, base }) => {
  test("answers a chat when its key is in the environment, with tools and without the key showing", async () => {
    await using directory = await tempDirectory();
    const call = { name: "list_files", input: {} };
    await using server = await start((_, index) =>
      index === 0 ? { toolCalls: [call] } : { text: ["It is ", "empty."] },
    );
    const flags = ["--store", `json:${directory.path}/s`, "--workspace", `${directory.path}/w`];
    const outcome = await holdfast(["chat", "-m", "what is there?", ...flags], {
      env: { [key]: "sk-hunter2", [base]: server.url },
    });
    expect(outcome.stderr).toContain(`(${key})`);
    expect(outcome.stderr).toContain("← list_files: success");
    expect(outcome).toMatchObject({ code: 0, stdout: "It is empty.\n" });
    expect(server.requests.length).toBeGreaterThanOrEqual(2);
    expect(outcome.stdout + outcome.stderr).not.toContain("hunter2");
  });

  test("is named with --model, and says which key is missing", async () => {
    await using directory = await tempDirectory();
    const flags = ["--store", `json:${directory.path}/s`, "--workspace", `${directory.path}/w`];
    const outcome = await holdfast(["chat", "-m", "hi", "--model", `${name}/some-model`, ...flags]);
    expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining(`set ${key}`) });
  });
});

describe("a model by name", () => {
  test("comes from HOLDFAST_MODEL, which is stronger than a key", async () => {
    await using directory = await tempDirectory();
    await using server = await anthropicServer([
      { text: "Hello." },
      { text: "[]" },
      { text: "[]" },
    ]);
    const flags = ["--store", `json:${directory.path}/s`, "--workspace", `${directory.path}/w`];
    const outcome = await holdfast(["chat", "-m", "hi", "--json", ...flags], {
      env: {
        OPENAI_API_KEY: "unused",
        ANTHROPIC_API_KEY: "k",
        ANTHROPIC_BASE_URL: server.url,
        HOLDFAST_MODEL: "anthropic/claude-of-the-test",
      },
    });
    expect(outcome.code).toBe(0);
    expect(server.requests[0]?.body).toMatchObject({ model: "claude-of-the-test" });
  });

  test("needs a package, of the project or of the command, and says how to install it", async () => {
    const outcome = await holdfast([
      "doctor",
      "--model",
      "mistral/small",
      "--store",
      "json:./nowhere",
    ]);
    expect(outcome).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("npm install @ai-sdk/mistral"),
    });
    for (const bad of ["gpt", "openai/", "/x", "../x/y"])
      expect((await holdfast(["chat", "-m", "hi", "--model", bad])).code).toBe(2);
  });

  test("takes the current project's package before the command's own", async () => {
    await using directory = await tempDirectory();
    const folder = join(directory.path, "node_modules/@ai-sdk/anthropic");
    await mkdir(folder, { recursive: true });
    const manifest = {
      name: "@ai-sdk/anthropic",
      type: "module",
      exports: { import: "./index.js" },
    };
    await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
    await writeFile(
      join(folder, "index.js"),
      `export const createAnthropic = () => () => ({ id: "the project's own", async *stream() {} });`,
    );
    const outcome = await runProcess(["doctor", "--store", `json:${directory.path}/s`], {
      cwd: directory.path,
      env: { ANTHROPIC_API_KEY: "k" },
    });
    expect(outcome.stdout).toContain("the project's own");
  });
});
