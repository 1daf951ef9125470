import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CTRL_C, CTRL_D, CTRL_Z } from "../../support/pseudo-terminal.js";
import { screenIn, screenProject } from "../../support/screen-project.js";

const [ESCAPE, CTRL_R, CTRL_U, TAB, ARROW_UP] = ["\u001b", "\u0012", "\u0015", "\t", "\u001b[A"];

test("input of several lines, pastes, completion and history", async () => {
  await using project = await screenProject();
  await using screen = await screenIn(project);
  screen.type("first line\\\rsecond line");
  await screen.shows("› first line\n  second line");
  screen.type("\r");
  await screen.shows("You said: first line");
  screen.paste(Array.from({ length: 12 }, (_, index) => `pasted ${index + 1}`).join("\r"));
  await screen.shows("› [paste #1 +12 lines]");
  screen.type("\r");
  await screen.shows("You said: pasted 1");
  await screen.shows("pasted 12");

  // A slash lists the commands with their help, an at sign the files of the workspace.
  screen.type("/com");
  await screen.shows(/→ \/compact +summarise the older part of the context now/u);
  screen.type(CTRL_U);
  screen.type("look at @not");
  await screen.shows("→ notes.txt");
  screen.type(TAB);
  await screen.shows("› look at notes.txt");
  screen.type("\r");
  await screen.shows("You said: look at notes.txt");

  screen.type(ARROW_UP);
  await screen.until(
    "the last message",
    () => screen.text.split("› look at notes.txt").length === 3,
  );
  screen.type(CTRL_U + CTRL_R);
  await screen.shows("Messages you sent");
  screen.type("first");
  await screen.until("what was found", () => /→ first line second line/u.test(screen.text));
  screen.type("\r");
  await screen.until("it in the input", () =>
    /^─+\n› first line\n {2}second line/mu.test(screen.text),
  );
  // Ctrl-C deletes what is typed.
  screen.type(CTRL_C);
  await screen.until("an empty input", () => /^─+\n›\n─+$/mu.test(screen.text));
  screen.type(CTRL_D);
  expect(await screen.exited).toBe(0);
});

test("what is typed while the agent works is shown, and steers it or waits; Esc interrupts", async () => {
  await using project = await screenProject();
  await using screen = await screenIn(project);
  screen.enter("tool until told");
  await screen.shows("Running wait…");
  await screen.shows("└ half way");
  screen.type("by train, ");
  await screen.shows("› by train,");
  screen.enter("please");
  await screen.shows("steering: by train, please");
  screen.type(`and then this${TAB}`);
  await screen.shows("sent next: and then this");
  await writeFile(join(project.path, "told"), "");
  // The call has taken it in behind the result of the tool.
  await screen.shows(
    /● wait[\s\S]*› by train, please[\s\S]*› and then this[\s\S]*You said: and then this/u,
  );
  await screen.hides("Esc interrupts\n─");

  await using other = await screenProject();
  await using second = await screenIn(other);
  await second.say("until told");
  await second.shows("I come");
  second.type(`not yet sent${TAB}`);
  await second.shows("sent next: not yet sent");
  second.type(ESCAPE);
  await second.shows("interrupted; what was said is kept");
  // What was to be sent next is left to edit.
  await second.until("it in the input", () => /^─+\n› not yet sent/mu.test(second.text));
  second.type("\r");
  await second.shows("You said: not yet sent");
  await second.say("until told");
  await second.until("it again", () => second.all.split("I come").length === 3);
  second.type(CTRL_C + CTRL_C);
  expect(await second.exited).toBe(130);
  screen.kill("SIGTERM");
  expect(await screen.exited).toBe(143);
});

test("suspended with Ctrl-Z and brought back, the screen is whole and goes on reading", async () => {
  await using project = await screenProject();
  await using screen = await screenIn(project, { inShell: true });
  await screen.say("hello");
  await screen.shows("You said: hello");
  screen.type("half a ");
  await screen.shows("› half a");
  screen.type(CTRL_Z);
  await screen.shows("Stopped");
  screen.enter("fg");
  // Until it has the terminal back, what is typed goes to the shell's, where Enter is another key.
  await screen.hides("Stopped");
  await screen.until("the whole screen", () =>
    /› hello\n\nYou said: hello\n─+\n› half a\n─+\n/u.test(screen.text),
  );
  screen.enter("thought");
  await screen.shows("You said: half a thought");
  screen.type(CTRL_D);
  await screen.until("the shell", () => /shell>\s*$/u.test(screen.text.trimEnd()));
  screen.enter("exit");
  await screen.exited;
});

test("Ctrl-D while the agent works leaves after it, and a terminal that is closed does not take the reply along", async () => {
  await using project = await screenProject();
  await using first = await screenIn(project);
  await first.say("until told");
  await first.shows("I come");
  first.type(`one more thing${TAB}`);
  await first.shows("sent next: one more thing");
  first.type(CTRL_D);
  await writeFile(join(project.path, "told"), "");
  expect(await first.exited).toBe(0);
  expect(first.all).toContain("I come to an end.");
  expect(first.all).toContain("not sent: one more thing");

  await rm(join(project.path, "told"));
  await using second = await screenIn(project);
  await second.say("until told");
  await second.until("it again", () => second.all.split("I come").length === 3);
  second.hangUp();
  await writeFile(join(project.path, "told"), "");
  await second.exited;
  await using third = await screenIn(project);
  await third.until("both replies", () => third.all.split("I come to an end.").length === 3);
  third.type(CTRL_D);
  expect(await third.exited).toBe(0);
});
