import { access } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { approvalConfig } from "../support/approval-config.js";
import { runProcess } from "../support/process.js";
import { type TestProject, testProject } from "../support/test-project.js";

interface Ask {
  readonly type: string;
  readonly pending: readonly { readonly name: string }[];
}

const chat = (project: TestProject, ...flags: string[]) =>
  runProcess(["chat", "--store", project.store, "--user", "ada", ...flags], { cwd: project.path });

const isWritten = ({ path }: TestProject, name: string): Promise<boolean> =>
  access(join(path, "workspace", "users", "ada", name)).then(
    () => true,
    () => false,
  );

test("without a terminal a call that asks ends the run with 6 and a line of JSON, and the session waits", async () => {
  await using project = await testProject(approvalConfig);
  const asked = await chat(project, "-m", "hello", "-m", "write a.txt", "-m", "never said");
  expect(asked.code).toBe(6);
  const lines = asked.stdout.trimEnd().split("\n");
  expect(lines[0]).toBe("You said: hello");
  expect(lines).toHaveLength(2);
  const ask = JSON.parse(lines[1] ?? "") as Ask;
  expect(ask).toEqual({
    type: "permission_ask",
    sessionId: "default",
    slot: { agentId: "tester", userId: "ada", sessionId: "default" },
    pending: [
      {
        toolCallId: expect.any(String),
        name: "write_file",
        input: { path: "a.txt", content: "by the model" },
        state: "asking",
        reason: "no rule allows this call of write_file",
        suggestions: [expect.objectContaining({ tool: "write_file", pattern: "./a.txt" })],
      },
    ],
  });
  expect(asked.stderr).toContain("session default waits for an approval");
  expect(await isWritten(project, "a.txt")).toBe(false);

  // The next run sends nothing, because nothing could be answered.
  const again = await chat(project, "-m", "never said");
  expect(again.code).toBe(6);
  expect(JSON.parse(again.stdout)).toEqual(ask);
  const shown = await runProcess(["sessions", "show", "default", "--store", project.store]);
  expect(shown.stdout).toContain("write a.txt");
  expect(shown.stdout).not.toContain("never said");
});

test("with --json the event and the reply say what waits", async () => {
  await using project = await testProject(approvalConfig);
  const { code, stdout } = await chat(project, "--json", "-m", "write a.txt b.txt");
  expect(code).toBe(6);
  const lines = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Ask);
  const names = lines
    .filter(({ type }) => type === "permission_ask" || type === "reply")
    .map(({ type, pending }) => [type, ...pending.map(({ name }) => name)]);
  expect(names).toEqual([
    ["permission_ask", "write_file", "write_file"],
    ["reply", "write_file", "write_file"],
  ]);
});

test("--permission-mode decides what happens where nobody can be asked, and the session keeps it", async () => {
  await using project = await testProject(approvalConfig);
  const denied = await chat(project, "--permission-mode", "dont_ask", "-m", "write a.txt");
  expect([denied.code, await isWritten(project, "a.txt")]).toEqual([0, false]);
  expect(denied.stdout).toContain("After 2 requests: denied");
  const kept = await chat(project, "-m", "write a.txt");
  expect(kept.stderr).toContain("permission mode dont_ask");
  expect(kept.stdout).toContain("After 2 requests: denied");
  const edits = await chat(project, "--permission-mode", "accept_edits", "-m", "write a.txt");
  expect([edits.code, await isWritten(project, "a.txt")]).toEqual([0, true]);
  const wrong = await chat(project, "--permission-mode", "all", "-m", "write a.txt");
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain("default, accept_edits, explore, bypass, dont_ask");
});
