import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempDirectory } from "@holdfast/testing";
import { SharedDirectory } from "@holdfast/workspace";
import { expect, onTestFinished, test } from "vitest";
import { DefinitionFiles } from "../../packages/subagents/src/definitions/definition-files.js";

async function workspace() {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  const shared = new SharedDirectory({ root: directory.path });
  const files = new DefinitionFiles({ shared, directory: "subagents", models: {}, taken: [] });
  return { files, path: (name: string) => join(directory.path, name) };
}

const definition = (description: string) => `---\ndescription: ${description}\n---\nYou help.\n`;

test("a workspace without definitions has none", async () => {
  const { files } = await workspace();
  expect(await files.read()).toEqual({ definitions: [], problems: [] });
});

test("definitions of a workspace directory are read as they are now", async () => {
  const { files, path } = await workspace();
  await mkdir(path("subagents"));
  for (const description of ["One.", "Two."]) {
    await writeFile(path("subagents/a.md"), definition(description));
    expect((await files.read()).definitions).toEqual([
      { name: "a", description, systemPrompt: "You help." },
    ]);
  }
});

test("a link is no definition, wherever it leads", async () => {
  const { files, path } = await workspace();
  await mkdir(path("subagents"));
  await writeFile(path("secret.md"), definition("Secret."));
  await symlink(path("secret.md"), path("subagents/a.md"));
  await writeFile(path("subagents/b.md"), definition("Help."));
  const { definitions, problems } = await files.read();
  expect(definitions.map(({ name }) => name)).toEqual(["b"]);
  expect(JSON.stringify(problems)).not.toContain("Secret");
});
