import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CTRL_C, CTRL_D } from "../../support/pseudo-terminal.js";
import { screenIn, screenProject } from "../../support/screen-project.js";
import { teamProject } from "../../support/team-project.js";

test("a session that is open elsewhere is shown live, and can be steered from here", async () => {
  await using project = await screenProject();
  await using first = await screenIn(project);
  await using second = await screenIn(project);
  await first.say("tool until told");
  await first.shows("Running wait…");
  await second.shows("another window works in this session");
  await second.shows("› tool until told");
  await second.shows("Running wait…");
  second.enter("greetings from here");
  await second.shows("steering: greetings from here");
  await writeFile(join(project.path, "told"), "");
  // The call takes it in behind the result of its tool, before or after the next request.
  for (const screen of [first, second]) await screen.shows("└ waited");
  // Words that come when the call has just ended are a call of the second window, too short for the first to see.
  await second.shows("You said: greetings from here");
  await second.shows("› greetings from here");
  await second.idle();
  first.type(CTRL_D);
  expect(await first.exited).toBe(0);
  await second.say("and on my own");
  await second.shows("You said: and on my own");
  await second.idle();
  second.type(CTRL_C);
  await second.shows("Ctrl-C again quits");
  second.type(CTRL_C);
  expect(await second.exited).toBe(0);
});

test("the work of subagents is indented below the call that waits for it, with its own progress", async () => {
  await using project = await teamProject();
  await using screen = await screenIn(project);
  await screen.say("ask researcher prices: ask checker: read none.txt");
  await screen.shows('agent_spawn researcher "prices": ask checker: read none.txt');
  await screen.shows(/^ {2}┆ researcher "prices" · 2 tool calls · \d+ tokens/mu);
  await screen.shows("\n    checker → read_file none.txt");
  await screen.shows('\n  researcher "prices" completed, ');
  await screen.shows("Tools said: success Task task_");
  await screen.say("start researcher report: until go, read none.txt");
  await screen.shows('researcher "report" works in the background, task_');
  await screen.shows("has begun in the background");
  screen.type("half a li");
  await writeFile(join(project.path, "go"), "");
  await screen.shows('researcher "report" completed, ');
  screen.enter("ne");
  await screen.shows("You said: half a line");
  screen.type(CTRL_D);
  expect(await screen.exited).toBe(0);
});
