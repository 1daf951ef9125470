import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { scaled } from "@holdfast/testing";
import { expect, test } from "vitest";
import { approvalConfig } from "../support/approval-config.js";
import { answer, chatIn, leave } from "../support/chat-terminal.js";
import { holdfast } from "../support/in-process.js";
import { CTRL_C, CTRL_D, PseudoTerminal } from "../support/pseudo-terminal.js";
import { type TestProject, testProject } from "../support/test-project.js";

const ESCAPE = "\u001b";
const CTRL_U = "\u0015";
const ARROW_UP = "\u001b[A";

/** Files of Ada's workspace, with their contents. */
async function filesIn({ path }: TestProject): Promise<Record<string, string>> {
  const root = join(path, "workspace", "users", "ada");
  const names = await readdir(root).catch(() => []);
  const files = names.filter((name) => name.endsWith(".txt"));
  const entries = files.map(async (name) => [name, await readFile(join(root, name), "utf8")]);
  return Object.fromEntries(await Promise.all(entries));
}

async function waitingIn({ store }: TestProject): Promise<readonly string[]> {
  const listed = await holdfast(["sessions", "list", "--waiting", "--json", "--store", store]);
  const { sessions } = listed.json<{ sessions: readonly { sessionId: string }[] }>();
  return sessions.map(({ sessionId }) => sessionId);
}

test("a call that is approved once runs, and the next one asks again", async () => {
  await using project = await testProject(approvalConfig);
  await using terminal = await chatIn(project);
  terminal.enter("write a.txt");
  await terminal.shows("write_file asks for your approval");
  await terminal.shows("│ no rule allows this call of write_file");
  await terminal.shows("│ path: a.txt");
  await terminal.shows("│ content: by the model");
  expect(await filesIn(project)).toEqual({});
  await answer(terminal, "run write_file?", "y");
  await terminal.shows("After 2 requests: success");
  expect(await filesIn(project)).toEqual({ "a.txt": "by the model" });
  terminal.enter("write a.txt");
  await terminal.shows("write_file asks for your approval");
  await answer(terminal, "run write_file?", "what?");
  await answer(terminal, "run write_file?", "");
  await answer(terminal, "run write_file?", "YES");
  await terminal.shows("After 4 requests: success");
  await terminal.shows("›");
  // Answers are not among the lines that were sent.
  terminal.type(ARROW_UP);
  await terminal.shows("write a.txt");
  terminal.type(CTRL_U);
  await leave(terminal);
});

test("rules are shown before they are remembered, listed with their scope, and taken back", async () => {
  await using project = await testProject(approvalConfig);
  await using first = await chatIn(project);
  first.enter("write a.txt");
  await answer(first, "run write_file?", "a");
  await first.shows("│ Always allow `a.txt`: write_file(./a.txt)");
  await answer(first, "remember?", "s");
  await first.shows("After 2 requests: success");
  first.enter("write b.txt");
  await answer(first, "run write_file?", "always");
  await first.shows("write_file(./b.txt)");
  await answer(first, "remember?", "everywhere");
  await answer(first, "remember?", "u");
  await first.shows("After 4 requests: success");
  first.enter("write a.txt b.txt");
  await first.shows("After 6 requests: success");
  await leave(first);

  await using second = await chatIn(project, "--session", "other");
  second.enter("/permissions");
  await second.shows("mode: default");
  await second.shows("1  user   write_file(./b.txt)");
  second.enter("write b.txt");
  await second.shows("After 2 requests: success");
  second.enter("/permissions forget 2");
  await second.shows("There is no rule 2");
  second.enter("/permissions forget 1");
  await second.shows("Forgotten: write_file(./b.txt)");
  second.enter("/permissions");
  await second.shows("No rule is remembered.");
  second.enter("/permissions mode all");
  await second.shows("There is no mode all.");
  second.enter("/permissions mode accept_edits");
  await second.shows("mode: accept_edits");
  second.enter("write b.txt");
  await second.shows("After 4 requests: success");
  second.enter("/session default");
  await second.shows("session default of ada");
  second.enter("write b.txt");
  await answer(second, "run write_file?", "n never");
  await second.shows("The user denied this call. never");
  await leave(second);
});

test("an edited input is what runs; one that is not JSON is asked for again", async () => {
  await using project = await testProject(approvalConfig);
  await using terminal = await chatIn(project);
  terminal.enter("write a.txt");
  await answer(terminal, "run write_file?", "e");
  await terminal.shows('input: › {"path":"a.txt","content":"by the model"}');
  terminal.enter("}");
  await terminal.shows("This is not JSON");
  await terminal.shows('"by the model"}}');
  terminal.type(CTRL_U);
  terminal.enter('{"path":"mine.txt","content":"by a person"}');
  await terminal.shows("After 2 requests: success");
  expect(await filesIn(project)).toEqual({ "mine.txt": "by a person" });
  await leave(terminal);
});

test("a terminal without cursor movement shows the input, and takes a new one", async () => {
  await using project = await testProject(approvalConfig);
  const args = ["chat", "--plain", "--store", project.store, "--user", "ada"];
  await using terminal = new PseudoTerminal(args, { cwd: project.path, env: { TERM: "dumb" } });
  await terminal.shows("›");
  terminal.enter("write a.txt");
  await answer(terminal, "run write_file?", "e");
  await terminal.shows('{"path":"a.txt","content":"by the model"}\n');
  await answer(terminal, "input:", '{"path":"mine.txt","content":"by a person"}');
  await terminal.shows("After 2 requests: success");
  expect(await filesIn(project)).toEqual({ "mine.txt": "by a person" });
  await leave(terminal);
});

test("all calls of a step are asked about, and answered together", async () => {
  await using project = await testProject(approvalConfig);
  await using terminal = await chatIn(project);
  terminal.enter("write a.txt b.txt c.txt");
  await terminal.shows("write_file asks for your approval (1 of 3)");
  await answer(terminal, "run write_file?", "y");
  await terminal.shows("write_file asks for your approval (2 of 3)");
  await answer(terminal, "run write_file?", "n");
  await answer(terminal, "why? (Enter: no reason)", "b is taken");
  await terminal.shows("(3 of 3)");
  expect(await filesIn(project)).toEqual({});
  await answer(terminal, "run write_file?", "n");
  await answer(terminal, "why? (Enter: no reason)", "");
  await terminal.shows("After 2 requests: success");
  await terminal.shows(
    "| denied The user denied this call. b is taken | denied The user denied this",
  );
  expect(await filesIn(project)).toEqual({ "a.txt": "by the model" });
  await leave(terminal);
});

const leaving: readonly (readonly [string, string])[] = [
  ["Ctrl-C", CTRL_C],
  ["Esc", ESCAPE],
];
// What a subagent asks is left with Esc in everyday runs as well.
test.each(scaled(leaving.slice(0, 1), leaving))(
  "%s denies everything and ends the turn; in a further question it goes back",
  async (_, key) => {
    await using project = await testProject(approvalConfig);
    await using terminal = await chatIn(project);
    terminal.enter("write a.txt b.txt");
    await answer(terminal, "run write_file?", "y");
    await terminal.shows("(2 of 2)");
    await answer(terminal, "run write_file?", "a");
    await terminal.shows("remember? ›");
    terminal.type(key);
    await terminal.shows("run write_file? ›");
    terminal.type(key);
    await terminal.shows("denied; the turn has ended");
    expect(await filesIn(project)).toEqual({});
    await terminal.shows("›");
    terminal.enter("still there?");
    await terminal.shows("You said: still there?");
    expect(terminal.text).not.toContain("requests: ");
    await leave(terminal);
  },
);

test("what was typed before a question is not its answer, and comes back after it", async () => {
  await using project = await testProject(approvalConfig);
  await using terminal = await chatIn(project);
  terminal.enter("until told");
  await terminal.shows("I wait.");
  terminal.enter("y");
  await terminal.shows("sent next: y");
  terminal.type("yes");
  await writeFile(join(project.path, "told"), "");
  await answer(terminal, "run write_file?", "n no");
  await terminal.shows("After 2 requests: denied");
  await terminal.shows("You said: y");
  await terminal.shows("› yes");
  expect(await filesIn(project)).toEqual({});
  terminal.type(CTRL_U);
  await leave(terminal);
});

test("a chat that is left at a question leaves the session waiting, and the next one asks first", async () => {
  await using project = await testProject(approvalConfig);
  await using first = await chatIn(project);
  first.enter("write a.txt");
  await first.shows("run write_file? ›");
  first.type(CTRL_D);
  await first.shows("the session keeps waiting");
  expect(await first.exited).toBe(0);
  expect(await waitingIn(project)).toEqual(["default"]);

  await using second = await chatIn(project, "--session", "other");
  second.enter("/session default");
  await second.shows("1 tool call of this session waits for your answer");
  await second.shows("run write_file? ›");
  second.kill("SIGTERM");
  expect(await second.exited).toBe(143);
  expect(await waitingIn(project)).toEqual(["default"]);

  const args = ["chat", "--plain", "--store", project.store, "--user", "ada"];
  await using third = new PseudoTerminal(args, { cwd: project.path });
  await third.shows("1 tool call of this session waits for your answer");
  await answer(third, "run write_file?", "y");
  await third.shows("After 1 requests: success");
  expect(await waitingIn(project)).toEqual([]);
  await leave(third);
});

test("a message sent while another process's call waits is sent once that is answered", async () => {
  await using project = await testProject(approvalConfig);
  await using first = await chatIn(project);
  await using second = await chatIn(project);
  first.enter("write a.txt");
  await first.shows("run write_file? ›");
  second.enter("and I?");
  await second.shows("1 tool call of this session waits for your answer");
  await answer(second, "run write_file?", "y");
  await second.shows("After 1 requests: success");
  await second.shows("You said: and I?");
  // The first one's answer comes too late, which does no harm.
  first.enter("y");
  await first.shows("›");
  first.enter("hello");
  await first.shows("You said: hello");
  for (const terminal of [first, second]) await leave(terminal);
});

test("a long input is cut with a count and shown whole on demand; nothing in it reaches the terminal", async () => {
  await using project = await testProject(approvalConfig);
  await using terminal = await chatIn(project);
  terminal.enter("long");
  await terminal.shows("cut, 1,907 characters in all");
  expect(terminal.text).not.toContain("the end");
  await answer(terminal, "run write_file?", "v");
  await terminal.shows("│   the end");
  await answer(terminal, "run write_file?", "n no");
  await terminal.shows("After 2 requests: denied");
  terminal.enter("evil");
  await terminal.shows("│ path: \\x1b]0;owned\\x07");
  await terminal.shows("│   \\x1b[2J");
  await terminal.shows("│   run write_file? › y");
  // No rule could name such a path, so that none is offered.
  await terminal.shows("y once, e edit, n no;");
  await answer(terminal, "run write_file?", "a");
  await answer(terminal, "run write_file?", "e");
  await terminal.shows('input: › {"path":"\\u001b]0;owned\\u0007"');
  await terminal.shows('› y"}');
  expect(terminal.raw).not.toContain("\u001b]0;");
  expect(terminal.raw).not.toContain("\u001b[2J");
  terminal.type(ESCAPE);
  await answer(terminal, "run write_file?", "n no");
  await leave(terminal);
});

test("the todo list is shown when it changed, and /plan shows and changes plan mode", async () => {
  await using project = await testProject(approvalConfig);
  await using terminal = await chatIn(project);
  terminal.enter("todo look around");
  await terminal.shows("[~] look around");
  terminal.enter("todo write it down");
  await terminal.shows("[x] look around");
  await terminal.shows("[~] write it down");
  terminal.enter("hello");
  await terminal.shows("You said: hello");
  terminal.enter("plan");
  await terminal.shows("plan mode is on");
  expect(terminal.text.split("[~] write it down")).toHaveLength(2);
  terminal.enter("/plan");
  await terminal.shows("plan mode is on; the agent asks you to end it");
  await terminal.shows("the plan, plans/it.md:");
  await terminal.shows("│ # The plan");
  await terminal.shows("│ \\x1b[2J1. begin");
  await terminal.shows("[~] write it down");
  terminal.enter("/plan off");
  await terminal.shows("plan mode is off");
  terminal.enter("/plan on");
  await terminal.shows("plan mode is on; /plan off ends it");
  terminal.enter("/plan maybe");
  await terminal.shows("/plan, /plan on or /plan off");
  await leave(terminal);
  // Plan mode is part of the session.
  await using next = await chatIn(project);
  expect(next.text).toContain("plan mode is on");
  next.type(CTRL_D);
  expect(await next.exited).toBe(0);
});
