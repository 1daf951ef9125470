import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CommandProcess, type ProcessOptions, runProcess } from "../support/process.js";
import { teamProject } from "../support/team-project.js";
import type { TestProject } from "../support/test-project.js";

const args = ({ store }: TestProject, ...flags: string[]): string[] => [
  ...["chat", "--store", store, "--user", "ada"],
  ...flags,
];

const chat = (project: TestProject, flags: string[], options: ProcessOptions = {}) =>
  runProcess(args(project, ...flags), { cwd: project.path, ...options });

const isWritten = ({ path }: TestProject, name: string): Promise<boolean> =>
  access(join(path, "workspace", "users", "ada", name)).then(
    () => true,
    () => false,
  );

const slot = { agentId: "lead", userId: "ada", sessionId: "default" };

test("the line of an ask names the subagent and the label of its work", async () => {
  await using project = await teamProject();
  const { code, stdout, stderr } = await chat(project, ["-m", "ask researcher notes: write a.txt"]);
  expect(code).toBe(6);
  expect(JSON.parse(stdout)).toMatchObject({
    type: "permission_ask",
    slot,
    pending: [{ agent: "researcher", label: "notes", name: "write_file", state: "asking" }],
  });
  expect(stderr).toContain('\n  researcher "notes" → write_file path: a.txt');
  expect(stderr).toContain('\n  researcher "notes" waits for your approval of write_file\n');
  const json = await chat(project, ["--json", "--session", "other", "-m", "ask checker: write b"]);
  const lines = json.stdout.trimEnd().split("\n");
  const asks = lines
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type === "permission_ask");
  expect([json.code, asks]).toMatchObject([6, [{ pending: [{ agent: "checker" }] }]]);
});

test("a run waits for its background tasks, and says on stderr how they ended", async () => {
  await using project = await teamProject();
  const command = new CommandProcess(args(project), {
    cwd: project.path,
    input: "start researcher slow: until go, read none.txt\nhello\n",
  });
  await using _ = command;
  await command.says("waiting for 1 background task; Ctrl-C pauses", "stderr");
  // The messages behind it were sent meanwhile.
  expect(command.stdout).toContain("You said: hello");
  await writeFile(join(project.path, "go"), "");
  expect(await command.ended).toBe(0);
  expect(command.stderr).toMatch(/\nresearcher "slow" completed, [\d.]+ m?s\n/u);
  expect(command.stderr).not.toContain("/tasks");
  const next = await chat(project, ["-m", "news?"]);
  expect(next.stdout).toBe("I was told. You said: news?\n");
});

test("a background task that asks ends the run with 6 and a line of JSON, once the others are done", async () => {
  await using project = await teamProject();
  const message = "start researcher a: write a.txt & start checker b: until go, read none.txt";
  const command = new CommandProcess(args(project, "-m", message), { cwd: project.path });
  await using _ = command;
  await command.says('researcher "a" waits for your approval of write_file', "stderr");
  await writeFile(join(project.path, "go"), "");
  expect(await command.ended).toBe(6);
  expect(command.stderr).toContain('checker "b" completed');
  const ask = JSON.parse(command.stdout.trimEnd().split("\n").at(-1) ?? "");
  expect(ask).toMatchObject({
    type: "permission_ask",
    sessionId: "default",
    slot,
    taskId: expect.stringMatching(/^task_/u),
    pending: [{ agent: "researcher", label: "a", name: "write_file" }],
  });
  expect(command.stderr).toContain(`/tasks answer ${ask.taskId}`);
  expect(await isWritten(project, "a.txt")).toBe(false);
  // It keeps nothing from being sent, and is not asked about again.
  const next = await chat(project, ["-m", "hello"]);
  expect([next.code, next.stdout]).toEqual([0, "I was told. You said: hello\n"]);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)(
  "%s while it waits pauses the tasks; the next run goes on with them",
  async (signal, code) => {
    await using project = await teamProject();
    const message = "start researcher slow: until go, read none.txt";
    const command = new CommandProcess(args(project, "-m", message), { cwd: project.path });
    await using _ = command;
    await command.says("waiting for 1 background task", "stderr");
    command.child.kill(signal);
    await command.says("pausing 1 background task", "stderr");
    // The second one does not wait for the step in which the subagent is.
    command.child.kill(signal);
    expect(await command.ended).toBe(code);
    expect(command.stderr).toContain('researcher "slow" is paused');
    await writeFile(join(project.path, "go"), "");
    const next = await chat(project, ["-m", "hello"]);
    expect(next.code).toBe(0);
    expect(next.stderr).toContain('researcher "slow" goes on in the background');
    expect(next.stderr).toContain('researcher "slow" completed');
  },
);

test("a turn that fails pauses background tasks and does not wait for them", async () => {
  await using project = await teamProject();
  const messages = ["-m", "start researcher slow: until go, read none.txt", "-m", "fail"];
  const command = new CommandProcess(args(project, ...messages), { cwd: project.path });
  await using _ = command;
  await command.says("pausing 1 background task", "stderr");
  await writeFile(join(project.path, "go"), "");
  expect(await command.ended).toBe(1);
  const next = await chat(project, ["-m", "hello"]);
  expect([next.code, next.stderr]).toEqual([0, expect.stringContaining("completed")]);
});
