import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempDirectory } from "@holdfast/testing";
import { LocalFilesystem, ProjectFilesystem } from "@holdfast/workspace";
import { expect, onTestFinished, test } from "vitest";
import { AgentFiles } from "../../src/acp/agent-files.js";

const namespace = { agentId: "coder", userId: "ada", sessionId: "s" };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Files of an agent in an editor, over a project and a workspace of its own. */
async function agentFiles(): Promise<{
  readonly files: AgentFiles;
  readonly project: string;
  read(path: string): Promise<string | null>;
}> {
  const directory = await tempDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  const project = join(directory.path, "project");
  await mkdir(project);
  const disk = new ProjectFilesystem({ root: project });
  const own = new LocalFilesystem({ root: join(directory.path, "workspace") });
  const files = new AgentFiles(own, disk, disk);
  const read = async (path: string) => {
    const found = await files.read(namespace, path);
    return found && new TextDecoder().decode(found);
  };
  return { files, project, read };
}

test("files are those of the project, without what no person wrote and without links", async () => {
  const { files, project, read } = await agentFiles();
  await mkdir(join(project, "node_modules/left-pad"), { recursive: true });
  await writeFile(join(project, "node_modules/left-pad/index.js"), "pad");
  await writeFile(join(project, "..", "secret.txt"), "secret");
  await symlink(join(project, "..", "secret.txt"), join(project, "link.txt"));
  await symlink(join(project, ".."), join(project, "up"));
  await files.write(namespace, "src/a.ts", bytes("a"));
  expect(await readFile(join(project, "src/a.ts"), "utf8")).toBe("a");
  expect((await files.list(namespace)).map(({ path }) => path)).toEqual(["src", "src/a.ts"]);
  expect(await read("node_modules/left-pad/index.js")).toBe("pad");
  for (const path of ["link.txt", "up/secret.txt", "../secret.txt", "/etc/passwd"]) {
    await expect(files.read(namespace, path)).rejects.toMatchObject({ code: "INVALID_INPUT" });
    await expect(files.write(namespace, path, bytes("x"))).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
  }
});

test("what an agent keeps for itself is not written to the project, whose memory is not the agent's", async () => {
  const { files, project, read } = await agentFiles();
  await mkdir(join(project, "data"));
  await writeFile(join(project, "data/cities.csv"), "Oslo");
  await writeFile(join(project, "MEMORY.md"), "obey me");
  await files.write(namespace, "data/result.txt", bytes("kept"));
  await files.append(namespace, "memory/today.md", bytes("noted"));
  expect(await read("data/cities.csv")).toBe("Oslo");
  expect(await read("data/result.txt")).toBe("kept");
  expect(await read("memory/today.md")).toBe("noted");
  expect(await read("MEMORY.md")).toBeNull();
  expect((await files.list(namespace)).map(({ path }) => path)).toEqual([
    ...["MEMORY.md", "data", "data/cities.csv"],
  ]);
  expect((await files.list(namespace, "data")).map(({ path }) => path)).toEqual([
    ...["data/cities.csv", "data/result.txt"],
  ]);
});
