import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "@holdfast/testing";
import { expect, test } from "vitest";
import { answer, chatIn, leave } from "../support/chat-terminal.js";
import { CTRL_C, CTRL_D, type PseudoTerminal } from "../support/pseudo-terminal.js";
import { teamProject } from "../support/team-project.js";
import type { TestProject } from "../support/test-project.js";

const ESCAPE = "\u001b";
const CTRL_U = "\u0015";

/** Content of a file of Ada's workspace; null when it is not there. */
const fileIn = ({ path }: TestProject, name: string): Promise<string | null> =>
  readFile(join(path, "workspace", "users", "ada", name), "utf8").catch(() => null);

const touch = ({ path }: TestProject, name: string): Promise<void> =>
  writeFile(join(path, name), "");

/** Id of the task that was begun last. */
function lastTask(terminal: PseudoTerminal): string {
  return /.*(task_[0-9a-f]{12})/su.exec(terminal.text)?.[1] ?? "";
}

/** Gives a task in the background and returns its id. */
async function startTask(terminal: PseudoTerminal, task: string): Promise<string> {
  terminal.enter(`start researcher report: ${task}`);
  await terminal.shows('  researcher "report" works in the background, task_');
  await terminal.shows("has begun in the background");
  await terminal.shows("›");
  return lastTask(terminal);
}

test("the work of subagents is shown below the call that waits for it, those of others deeper", async () => {
  await using project = await teamProject();
  await using terminal = await chatIn(project);
  terminal.enter("ask researcher prices: ask checker: read none.txt");
  await terminal.shows('→ agent_spawn researcher "prices": ask checker: read none.txt');
  await terminal.shows('\n  researcher "prices" → agent_spawn checker: read none.txt');
  await terminal.shows("\n    checker → read_file none.txt");
  await terminal.shows("\n    checker ← read_file: error, ");
  await terminal.shows("\n    checker completed, ");
  await terminal.shows('\n  researcher "prices" completed, ');
  await terminal.shows("Tools said: success Task task_");
  // The reply is whole when the next prompt stands below it.
  await terminal.shows("›");
  // The texts of subagents are not streamed, and their calls are no JSON.
  expect(terminal.text.split("Tools said: error")).toHaveLength(2);
  expect(terminal.text).not.toContain("{");
  terminal.enter("ask researcher: fail & ask nobody: read none.txt");
  await terminal.shows("  researcher: a model call failed: ");
  await terminal.shows("  researcher failed, ");
  await terminal.shows("Tools said: ");
  expect(terminal.text).toContain("← agent_spawn: error, ");
  await leave(terminal);
});

test("what a subagent wants to do is asked with its name, and every answer reaches it", async () => {
  await using project = await teamProject();
  await using terminal = await chatIn(project);
  terminal.enter("ask researcher notes: write a.txt & ask checker: write b.txt");
  await terminal.shows('write_file of researcher "notes" asks for your approval (1 of 2)');
  await terminal.shows("│ path: a.txt");
  await answer(terminal, "run write_file?", "e");
  await terminal.shows("input: ›");
  terminal.type(CTRL_U);
  terminal.enter('{"path":"mine.txt","content":"by a person"}');
  await terminal.shows("write_file of checker asks for your approval (2 of 2)");
  await answer(terminal, "run write_file?", "n b is taken");
  await terminal.shows("The user denied this call. b is taken");
  expect([await fileIn(project, "a.txt"), await fileIn(project, "b.txt")]).toEqual([null, null]);
  expect(await fileIn(project, "mine.txt")).toBe("by a person");
  terminal.enter("ask checker: write b.txt");
  await answer(terminal, "run write_file?", "a");
  await answer(terminal, "remember?", "s");
  await terminal.shows("  checker completed, ");
  // The rule is the session's, for all who work in it.
  terminal.enter("ask researcher: write b.txt");
  await terminal.shows("  researcher completed, ");
  expect(await fileIn(project, "b.txt")).toBe("by a subagent");
  terminal.enter("ask researcher: write c.txt");
  await terminal.shows("run write_file? ›");
  terminal.type(ESCAPE);
  await terminal.shows("denied; the turn has ended");
  expect(await fileIn(project, "c.txt")).toBe(null);
  await leave(terminal);
});

test("a session that a subagent keeps waiting is answered by the next chat", async () => {
  await using project = await teamProject();
  await using first = await chatIn(project);
  first.enter("ask researcher: ask checker deep: write a.txt");
  await first.shows("run write_file? ›");
  first.type(CTRL_D);
  expect(await first.exited).toBe(0);
  await using second = await chatIn(project, "--session", "other");
  second.enter("/session default");
  await second.shows("1 tool call of this session waits for your answer");
  await second.shows('write_file of checker "deep" asks for your approval');
  await answer(second, "run write_file?", "y");
  await second.shows("  researcher completed");
  expect(await fileIn(project, "a.txt")).toBe("by a subagent");
  await leave(second);
});

test("a task that ends between turns says so above the line that is being typed", async () => {
  await using project = await teamProject();
  await using terminal = await chatIn(project);
  terminal.enter("briefly researcher slow: until go, read none.txt");
  await terminal.shows('  researcher "slow" takes longer and goes on in the background, task_');
  await terminal.shows("is still running, in the background now");
  await terminal.shows("›");
  const id = lastTask(terminal);
  terminal.type("half a li");
  await terminal.shows("half a li");
  await touch(project, "go");
  await terminal.shows('researcher "slow" completed, ');
  await terminal.shows(`; /tasks ${id} shows the result`);
  await terminal.shows("› half a li");
  terminal.enter("ne");
  await terminal.shows("You said: half a line");
  // Of a task in the background the calls are not shown.
  expect(terminal.text).not.toContain("→ read_file");
  terminal.enter(`/tasks ${id.slice(0, 9)}`);
  await terminal.shows(`${id} of researcher "slow": completed, `);
  await terminal.shows("│ task: until go, read none.txt");
  await terminal.shows('│ Tools said: error The file "none.txt" does not exist.');
  await terminal.shows("what it did: holdfast sessions show task-");
  await leave(terminal);
});

test("/tasks lists what was given to subagents, and cancels it", async () => {
  await using project = await teamProject();
  await using terminal = await chatIn(project);
  terminal.enter("/tasks");
  await terminal.shows("No task was given to a subagent in this session.");
  const id = await startTask(terminal, "until never, read none.txt");
  terminal.enter("ask checker: read none.txt");
  await terminal.shows("Tools said: success");
  terminal.enter("/tasks");
  await terminal.shows("TASK               AGENT                STATUS     TIME");
  await terminal.shows(`${id}  researcher "report"  running    `);
  await terminal.shows("until never, read none.txt");
  await terminal.shows("checker              completed  ");
  terminal.enter(`/tasks answer ${id}`);
  await terminal.shows(`${id} waits for nothing: running.`);
  terminal.enter(`/tasks cancel ${id}`);
  await terminal.shows('researcher "report" was cancelled');
  terminal.enter(`/tasks cancel ${id}`);
  await terminal.shows(`${id} is over: cancelled.`);
  terminal.enter("/tasks cancel 0x");
  await terminal.shows("There is no task 0x; /tasks lists them.");
  terminal.enter("/tasks cancel task_");
  await terminal.shows("More than one task begins with task_");
  for (const wrong of ["/tasks cancel", "/tasks answer", `/tasks ${id} now`]) {
    terminal.enter(wrong);
    await terminal.shows("/tasks, /tasks <id>, /tasks cancel <id> or /tasks answer <id>");
  }
  terminal.type("/ta\t");
  await terminal.shows("/tasks");
  terminal.type(CTRL_U);
  await leave(terminal);
});

test("a task that waits says how to answer it, and /tasks answer asks", async () => {
  await using project = await teamProject();
  await using terminal = await chatIn(project);
  const id = await startTask(terminal, "until go, write report.txt");
  await touch(project, "go");
  await terminal.shows(
    `researcher "report" waits for your approval of write_file; /tasks answer ${id}`,
  );
  terminal.enter("/tasks");
  await terminal.shows('researcher "report"  waits for you');
  await terminal.shows("/tasks answer <id> asks you about what a task waits for");
  terminal.enter(`/tasks ${id}`);
  await terminal.shows(`it waits for your approval of write_file; /tasks answer ${id}`);
  terminal.enter(`/tasks answer ${id}`);
  await terminal.shows('write_file of researcher "report" asks for your approval');
  await terminal.shows("Esc leaves it waiting");
  await terminal.shows("run write_file? ›");
  terminal.type(ESCAPE);
  await terminal.shows(`${id} keeps waiting`);
  await leave(terminal);

  // Another process shows it at its beginning, and answers as well.
  await using second = await chatIn(project);
  expect(second.text).toContain(`researcher "report" waits for your approval; /tasks answer ${id}`);
  second.enter(`/tasks answer ${id}`);
  await answer(second, "run write_file?", "a");
  await answer(second, "remember?", "u");
  await second.shows('researcher "report" works in the background');
  await second.shows('researcher "report" completed');
  expect(await fileIn(project, "report.txt")).toBe("by a subagent");
  second.enter("/permissions");
  await second.shows("user   write_file(./report.txt)");
  const other = await startTask(second, "until went, write other.txt");
  await touch(project, "went");
  await second.shows(`/tasks answer ${other}`);
  second.enter(`/tasks answer ${other}`);
  await answer(second, "run write_file?", "n");
  await answer(second, "why? (Enter: no reason)", "not that one");
  await second.shows('researcher "report" completed');
  second.enter(`/tasks ${other}`);
  await second.shows("The user denied this call. not that one");
  await leave(second);
});

test("a chat that is left pauses its background tasks, and the next one goes on with them", async () => {
  await using project = await teamProject();
  await using first = await chatIn(project);
  await startTask(first, "until go, write report.txt");
  first.type(CTRL_D);
  await first.shows("pausing 1 background task, which goes on when its session is continued");
  // A second time without waiting for the step in which the subagent is.
  first.type(CTRL_C);
  await first.shows('researcher "report" is paused');
  expect(await first.exited).toBe(0);
  await using second = await chatIn(project);
  expect(second.text).toContain('researcher "report" goes on in the background, task_');
  await touch(project, "go");
  await second.shows('researcher "report" waits for your approval of write_file');
  await leave(second);
});

test("a task of another process is named, listed, and cancelled from here", async () => {
  await using project = await teamProject();
  await using first = await chatIn(project);
  const id = await startTask(first, "until never, read none.txt");
  await using second = await chatIn(project);
  expect(second.text).toContain(
    "1 task of this session runs in another process; /tasks lists them",
  );
  second.enter("/tasks");
  await second.shows(`${id}  researcher "report"  running`);
  second.enter(`/tasks cancel ${id}`);
  await second.shows('researcher "report" was cancelled');
  first.enter("/tasks");
  await first.shows(`${id}  researcher "report"  cancelled`);
  for (const terminal of [first, second]) await leave(terminal);
});

test("a task that ends while another session is open names its own", async () => {
  await using project = await teamProject();
  await using terminal = await chatIn(project);
  const id = await startTask(terminal, "until go, read none.txt");
  terminal.enter("/session other");
  await terminal.shows("session other of ada");
  await touch(project, "go");
  await terminal.shows('researcher "report" (for session default) completed, ');
  terminal.enter(`/tasks ${id}`);
  await terminal.shows(`There is no task ${id}; /tasks lists them.`);
  await leave(terminal);
});

test("a task whose process was killed is shown as lost", async () => {
  await using project = await teamProject();
  await using first = await chatIn(project);
  const id = await startTask(first, "until go, write report.txt");
  first.kill("SIGKILL");
  await first.exited;
  await using second = await chatIn(project);
  await eventually(() =>
    second.text.includes('researcher "report" was lost: The process that worked on it'),
  );
  second.enter("/tasks");
  await second.shows(`${id}  researcher "report"  lost`);
  await leave(second);
});

test("an interrupted turn cancels the tasks that it waits for", async () => {
  await using project = await teamProject();
  await using terminal = await chatIn(project);
  terminal.enter("ask researcher: ask checker: until never, read none.txt");
  await terminal.shows("  researcher → agent_spawn checker");
  terminal.type(CTRL_C);
  await terminal.shows("interrupted; what was said is kept");
  await terminal.shows("researcher was cancelled");
  terminal.enter("still there?");
  await terminal.shows("You said: still there?");
  await leave(terminal);
});

test("files that are no definitions are named, and labels cannot control the terminal", async () => {
  await using project = await teamProject();
  const directory = join(project.path, "workspace", "subagents");
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "broken.md"), "no front matter");
  await using terminal = await chatIn(project);
  terminal.enter('ask researcher \u001b[2J"run it? › y: write a.txt');
  await terminal.shows("subagents/broken.md cannot be used: it does not begin with a line ---");
  await terminal.shows("asks for your approval");
  expect(terminal.raw).not.toContain("\u001b[2J");
  await answer(terminal, "run write_file?", "n no");
  await leave(terminal);
});

test("subagents() of the config file takes the place of the default one", async () => {
  const plugin = (call: string): string => `
import { definePlugin } from "${import.meta.resolve("@holdfast/core")}";
import { subagents } from "${import.meta.resolve("@holdfast/subagents")}";
import team from "./team.mjs";
export default { ...team, plugins: [${call}] };`;
  await using project = await teamProject();
  const config = await readFile(join(project.path, "holdfast.config.mjs"), "utf8");
  await writeFile(join(project.path, "team.mjs"), config);
  const own = `subagents({ agents: [{ name: "painter", description: "Paints." }], directory: false })`;
  await writeFile(join(project.path, "holdfast.config.mjs"), plugin(own));
  await using first = await chatIn(project);
  first.enter("ask researcher: read none.txt");
  await first.shows('There is no subagent "researcher". There are: painter, general-purpose.');
  first.enter("ask painter: read none.txt");
  await first.shows("  painter completed");
  first.enter("/tasks");
  await first.shows("painter  completed");
  await leave(first);
  const other = `definePlugin({ name: "subagents", contract: 1, setup() {} })`;
  await writeFile(join(project.path, "holdfast.config.mjs"), plugin(other));
  await using second = await chatIn(project);
  second.enter("/tasks");
  await second.shows("This agent has no subagents() of @holdfast/subagents.");
  await leave(second);
});
