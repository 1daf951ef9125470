import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { textOf } from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { expect, test } from "vitest";
import { openStore } from "../../../src/store/open-store.js";
import {
  CTRL_A,
  CTRL_C,
  CTRL_D,
  CTRL_E,
  CTRL_Z,
  PseudoTerminal,
} from "../../support/pseudo-terminal.js";
import { type TestProject, testProject } from "../../support/test-project.js";

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
const ESCAPE_UP = /\u001b\[\d+A/;

const slot = { agentId: "tester", userId: "ada", sessionId: "default" };

async function savedTexts(url: string): Promise<readonly string[]> {
  const store = await openStore(url);
  const loaded = await loadWhole(store.parts.stateStore, slot);
  await store.close();
  if (loaded === null) throw new Error("nothing is saved");
  return loaded.messages.map((message) => `${message.role}: ${textOf(message)}`);
}

/** A chat of Ada's that has prompted. */
async function chatIn(
  { path, store }: TestProject,
  options: { readonly env?: Record<string, string>; readonly inShell?: boolean } = {},
): Promise<PseudoTerminal> {
  const args = ["chat", "--plain", "--store", store, "--user", "ada"];
  const terminal = new PseudoTerminal(args, { cwd: path, ...options });
  await terminal.shows("session default of ada, agent tester");
  await terminal.shows("›");
  return terminal;
}

test("a reply that is interrupted with Ctrl-C is kept, and another process goes on from there", async () => {
  await using project = await testProject();
  const args = ["chat", "--plain", "--store", project.store, "--user", "ada"];
  const options = { cwd: project.path };
  await using first = new PseudoTerminal(args, options);
  await first.shows("session default of ada, agent tester: new");
  first.enter("hello there");
  await first.shows("You said: hello there (1 messages)");
  first.enter("forever and ever");
  await first.shows("I shall never end");
  first.type(CTRL_C);
  await first.shows("interrupted; what was said is kept");
  // The program goes on.
  first.enter("still here?");
  await first.shows("You said: still here? (5 messages)");
  first.type(CTRL_D);
  expect(await first.exited).toBe(0);

  expect(await savedTexts(project.store)).toEqual([
    "user: hello there",
    "assistant: You said: hello there (1 messages)",
    "user: forever and ever",
    "assistant: I shall never end ",
    "user: still here?",
    "assistant: You said: still here? (5 messages)",
  ]);

  await using second = new PseudoTerminal(args, options);
  await second.shows("continues, 6 messages");
  second.enter("/history 3");
  await second.shows("I shall never end");
  await second.shows("You said: still here?");
  second.enter("again");
  await second.shows("You said: again (7 messages)");
  // At an empty prompt it leaves.
  await second.shows("›");
  second.type(CTRL_C);
  expect(await second.exited).toBe(0);
});

test("Ctrl-D while the agent works leaves after it, and names what is not sent", async () => {
  await using project = await testProject();
  await using terminal = await chatIn(project);
  terminal.enter("until told");
  await terminal.shows("I come");
  terminal.enter("one more thing");
  await terminal.shows("sent next: one more thing");
  terminal.type(CTRL_D);
  await writeFile(join(project.path, "told"), "");
  await terminal.shows("to an end.");
  await terminal.shows("not sent: one more thing");
  expect(await terminal.exited).toBe(0);
});

test("a second Ctrl-C leaves with 130, and what was said is kept all the same", async () => {
  await using project = await testProject();
  await using terminal = await chatIn(project);
  terminal.enter("forever");
  await terminal.shows("I shall never end");
  // At once: a moment later the call may be saved, and the second one is at an empty prompt.
  terminal.type(CTRL_C + CTRL_C);
  expect(await terminal.exited).toBe(130);
  expect(await savedTexts(project.store)).toContain("assistant: I shall never end ");
});

test("suspended with Ctrl-Z and brought back, it goes on reading", async () => {
  await using project = await testProject();
  await using terminal = await chatIn(project, { inShell: true });
  terminal.type("half a ");
  await terminal.shows("half a ");
  terminal.type(CTRL_Z);
  await terminal.shows("Stopped");
  terminal.enter("fg");
  await terminal.shows("› half a ");
  terminal.enter("thought");
  await terminal.shows("You said: half a thought (1 messages)");
  await terminal.shows("›");
  terminal.type(CTRL_D);
  await terminal.shows("shell>");
  terminal.enter("exit");
  await terminal.exited;
  expect(await savedTexts(project.store)).toContain("user: half a thought");
});

test("what is typed while the agent works stands below its reply, however long it is", async () => {
  await using project = await testProject();
  await using terminal = await chatIn(project);
  terminal.enter("until told");
  await terminal.shows("I come");
  // One by one, as keys are pressed: three rows of a terminal that has 120 columns.
  const long = "typed ahead ".repeat(25).trim();
  for (const key of long) terminal.type(key);
  terminal.type(CTRL_A + CTRL_E);
  await writeFile(join(project.path, "told"), "");
  await terminal.shows("to an end.");
  await terminal.shows(`› ${long}`);
  // Nothing moved the cursor up into the reply.
  expect(terminal.raw).not.toMatch(ESCAPE_UP);
  terminal.type(CTRL_C);
  await terminal.shows("›");
  terminal.type(CTRL_D);
  expect(await terminal.exited).toBe(0);
});

test("lines that were pasted and not sent are named when they are left", async () => {
  await using project = await testProject();
  await using terminal = await chatIn(project);
  terminal.type("\u001b[200~line one\rline two\r\u001b[201~");
  await terminal.shows("line two");
  terminal.type(CTRL_D);
  await terminal.shows("not sent: line one line two");
  expect(await terminal.exited).toBe(0);
});

test("a terminal that can do nothing is told nothing it does not understand", async () => {
  await using project = await testProject();
  await using terminal = await chatIn(project, { env: { TERM: "dumb" } });
  terminal.type("not this");
  await terminal.shows("not this");
  terminal.type(CTRL_C);
  await terminal.shows("›");
  terminal.enter("but this");
  await terminal.shows("You said: but this (1 messages)");
  await terminal.shows("›");
  terminal.type(CTRL_D);
  expect(await terminal.exited).toBe(0);
  expect(terminal.raw).not.toContain("\u001b");
});

test("a turn that waits for another process says so when it is interrupted", async () => {
  await using project = await testProject();
  await using first = await chatIn(project);
  await using second = await chatIn(project);
  first.enter("until told");
  await first.shows("I come");
  second.enter("me too");
  await second.shows("waiting for 1 other call");
  second.type(CTRL_C);
  await second.shows("waiting to save it");
  await writeFile(join(project.path, "told"), "");
  await second.shows("interrupted; what was said is kept");
  for (const terminal of [first, second]) {
    await terminal.shows("›");
    terminal.type(CTRL_D);
    expect(await terminal.exited).toBe(0);
  }
  expect(await savedTexts(project.store)).toContain("user: me too");
});

test("a terminal that is closed in the middle of a reply does not take it along", async () => {
  await using project = await testProject();
  await using terminal = await chatIn(project);
  terminal.enter("until told");
  await terminal.shows("I come");
  terminal.hangUp();
  await writeFile(join(project.path, "told"), "");
  await terminal.exited;
  expect(await savedTexts(project.store)).toContain("assistant: I come to an end.");
});

test("what an agent does is shown as it happens, and commands begin with a slash", async () => {
  await using project = await testProject();
  await using terminal = await chatIn(project);
  // The first half is there before there is a second; what is typed meanwhile comes next.
  terminal.enter("until told");
  await terminal.shows("I come");
  terminal.enter("and then this");
  await terminal.shows("sent next: and then this");
  await writeFile(join(project.path, "told"), "");
  await terminal.shows("to an end.");
  await terminal.shows("› and then this");
  await terminal.shows("You said: and then this (3 messages)");
  await terminal.shows("›");

  // Long enough that a summary of it is shorter.
  terminal.type(`\u001b[200~${"a long story, ".repeat(60)}\u001b[201~`);
  terminal.type("\r");
  await terminal.shows("messages)");
  await terminal.shows("›");
  terminal.enter("think");
  await terminal.shows("Let me see.");
  await terminal.shows("I have thought.");
  expect(terminal.raw).toContain("\u001b[2mLet me see.\u001b[22m");
  terminal.enter("tool");
  await terminal.shows("→ list_files {}");
  await terminal.shows("← list_files: success, ");
  await terminal.shows("The tool has answered.");
  terminal.enter("fail");
  await terminal.shows("the provider is on fire");
  terminal.enter("evil");
  await terminal.shows("\\x1b]0;owned\\x07");
  expect(terminal.raw).not.toContain("\u001b]0;");
  await terminal.shows("›");

  // A text of two lines that is pasted is one message; Ctrl-C takes back what is half typed.
  terminal.type("\u001b[200~line one\rline two\u001b[201~");
  terminal.type("\r");
  await terminal.shows("You said: line one\nline two (");
  await terminal.shows("›");
  terminal.type("half a thought");
  await terminal.shows("half a thought");
  terminal.type(CTRL_C);
  terminal.enter("//slash");
  await terminal.shows("You said: /slash (");

  for (const [line, answer] of [
    ["/nonsense", "There is no /nonsense"],
    ["/help", "/history [n]"],
    ["/tokens", "of 100,000 tokens"],
    ["/tokens", "system prompt"],
    ["/sessions", "*  default  19 "],
    ["/compact", "Compacted 1"],
    ["/history 2", "user /slash"],
    ["/search who said slashes", "/slash"],
    ["/search", "What for? /search <words>"],
    ["/session other", "session other of ada, agent tester: new"],
  ] as const) {
    await terminal.shows("›");
    terminal.enter(line);
    await terminal.shows(answer);
  }
  await terminal.shows("›");
  terminal.enter("/exit");
  expect(await terminal.exited).toBe(0);
});
