import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FileNamespace } from "@holdfast/core/plugin-kit";
import { tempDirectory } from "@holdfast/testing";
import { LocalFilesystem, workspace } from "@holdfast/workspace";
import { describe, expect, test } from "vitest";
import { put } from "../tools/tool-bench.js";
import { ada, agentWith, eve, probe } from "./agent-with.js";

describe("an agent with a workspace directory", () => {
  test("works on files, and two users cannot see each other's", async () => {
    await using directory = await tempDirectory();
    await writeFile(join(directory.path, "AGENTS.md"), "Answer in verse.");
    await mkdir(join(directory.path, "knowledge"));
    await writeFile(join(directory.path, "knowledge", "tea.md"), "# All about tea");
    const { agent, model, use } = agentWith([workspace({ root: directory.path })]);
    await use(ada, "write_file", { path: "notes/plan.md", content: "secret of ada\n" });
    await use(ada, "edit_file", {
      path: "notes/plan.md",
      old_string: "secret",
      new_string: "word",
    });
    expect((await use(ada, "read_file", { path: "notes/plan.md" })).text).toContain(
      "1\tword of ada",
    );
    expect((await use(ada, "grep_files", { pattern: "word" })).text).toContain("notes/plan.md:1:");
    expect((await use(ada, "list_files", {})).text).toContain("notes/ (1 file)");

    expect(await use(eve, "read_file", { path: "notes/plan.md" })).toMatchObject({
      outcome: "error",
    });
    expect((await use(eve, "grep_files", { pattern: "word" })).text).toContain("Nothing found");
    expect((await use(eve, "glob_files", { pattern: "**" })).text).toBe(
      "AGENTS.md\nknowledge/tea.md",
    );
    for (const path of [
      "../ada/notes/plan.md",
      "users/ada/notes/plan.md",
      `${directory.path}/users/ada/notes/plan.md`,
    ])
      expect(await use(eve, "read_file", { path })).toMatchObject({ outcome: "error" });

    expect(model.requests[0]?.system).toContain("Answer in verse.");
    expect(model.requests[0]?.system).toContain("- knowledge/tea.md: All about tea");
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual([
      "read_file",
      "write_file",
      "edit_file",
      "grep_files",
      "glob_files",
      "list_files",
    ]);
    await agent.close();
  });

  test("runs commands only if it was told that it may", async () => {
    await using directory = await tempDirectory();
    const { agent, use } = agentWith([workspace({ root: directory.path, shell: true })]);
    await use(ada, "execute", { command: "echo hello > made.txt" });
    expect((await use(ada, "read_file", { path: "made.txt" })).text).toContain("1\thello");
    await agent.close();
  });

  test("sees an edit of AGENTS.md at the next step, and the same prompt where nothing was edited", async () => {
    await using directory = await tempDirectory();
    const instructions = join(directory.path, "AGENTS.md");
    await writeFile(instructions, "First rule.");
    const { agent, model, use } = agentWith([workspace({ root: directory.path })], {
      systemPrompt: "You help.",
    });
    await use(ada, "list_files", {});
    const [first, second] = model.requests.map(({ system }) => system);
    expect(first).toMatch(/^You help\.\n\n# Workspace[\s\S]*First rule\./);
    expect(second).toBe(first);
    await writeFile(instructions, "Other rule.");
    await use(ada, "list_files", {});
    expect(model.requests.at(-1)?.system).toContain("Other rule.");
    await agent.close();
  });

  test("deletes with a session what belongs to it, and with a user everything", async () => {
    await using directory = await tempDirectory();
    const { found, plugin } = probe();
    const { agent, use } = agentWith([workspace({ root: directory.path }), plugin]);
    const slot = (sessionId: string, userId: string | null = "ada"): FileNamespace => ({
      agentId: "agent",
      userId,
      sessionId,
    });
    const files = new LocalFilesystem({ root: directory.path });
    const paths = async (namespace: FileNamespace) =>
      (await files.list(namespace)).filter(({ kind }) => kind === "file").map(({ path }) => path);
    const result = {
      type: "tool_result",
      toolCallId: "c",
      name: "look",
      state: "success",
    } as const;
    const output = [{ type: "text", text: "much" }] as const;
    for (const session of ["one", "two"]) {
      await use({ userId: "ada", sessionId: session }, "write_file", {
        path: "MEMORY.md",
        content: "tea",
      });
      await found.offloader?.()?.offloadToolResult(slot(session), { ...result, output });
      await found
        .offloader?.()
        ?.offloadToolResult(slot(session), { ...result, output }, { directory: "results" });
      await found.offloader?.()?.offloadContext(slot(session), []);
    }
    await put(files, "agents/other/sessions/one.log.jsonl", "another agent's", slot("one"));
    await use({ userId: null, sessionId: "one" }, "write_file", { path: "a.txt", content: "x" });
    await use(eve, "write_file", { path: "a.txt", content: "x" });

    await agent.deleteSession(ada);
    const left = await paths(slot("one"));
    expect(left.filter((path) => path.includes("/one/"))).toEqual([]);
    expect(left.filter((path) => path.includes("/two/"))).toHaveLength(3);
    expect(left).toContain("MEMORY.md");
    expect(await paths(slot("one", null))).toEqual(["a.txt"]);

    await agent.deleteSession({ userId: null, sessionId: "one" });
    expect(await paths(slot("one", null))).toEqual([]);

    await agent.deleteUser("ada");
    expect(await paths(slot("one"))).toEqual(["agents/other/sessions/one.log.jsonl"]);
    expect(await paths(slot("one", "eve"))).toEqual(["a.txt"]);
    expect(await readdir(join(directory.path, "users"))).toEqual(["ada", "eve"]);
    await agent.close();
  });
});
