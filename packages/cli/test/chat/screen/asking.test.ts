import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CTRL_D } from "../../support/pseudo-terminal.js";
import { openScreen, screenIn, screenProject } from "../../support/screen-project.js";

const [ESCAPE, CTRL_U, ARROW_DOWN] = ["\u001b", "\u0015", "\u001b[B"];

test("approvals: once, always with the rule, edited, and no with a reason", async () => {
  await using project = await screenProject();
  const files = join(project.path, "workspace", "users", "ada");
  await using screen = await screenIn(project);
  await screen.say("write a.txt");
  await screen.shows("write_file asks for your approval");
  await screen.shows("│ path: a.txt");
  screen.type("y");
  await screen.until("the result", () => screen.all.split("After the tool: success").length === 2);
  await screen.say("write b.txt");
  await screen.shows("run write_file?");
  screen.type("a");
  await screen.shows("from now on these calls run without asking:");
  await screen.shows("write_file(./b.txt)");
  screen.type("s");
  await screen.until("the result", () => screen.all.split("After the tool: success").length === 3);
  await screen.say("write b.txt");
  await screen.until("the result", () => screen.all.split("After the tool: success").length === 4);

  await screen.say("write c.txt");
  await screen.shows("│ path: c.txt");
  screen.type("e");
  await screen.shows("Enter runs it with this input; Esc goes back");
  screen.type(`${CTRL_U}}\r`);
  await screen.shows("This is not JSON");
  screen.type(`${CTRL_U}{"path":"mine.txt","content":"by a person"}\r`);
  await screen.until("the result", () => screen.all.split("After the tool: success").length === 5);
  expect(await readFile(join(files, "mine.txt"), "utf8")).toBe("by a person");

  await screen.say("write d.txt");
  await screen.shows("│ path: d.txt");
  // By the arrows: once, always, edit, no.
  screen.type(ARROW_DOWN.repeat(3));
  await screen.shows("→ n  no");
  screen.type("\r");
  await screen.shows("why? (Enter: no reason)");
  screen.enter("d is taken");
  await screen.shows("denied The user denied this call. d is taken");
  await screen.say("write e.txt");
  await screen.shows("│ path: e.txt");
  screen.type(ESCAPE);
  await screen.shows("denied; the turn has ended");
  const names = await readdir(files);
  expect(names.filter((name) => /^[a-e]\.txt$/u.test(name))).toEqual(["a.txt", "b.txt"]);

  // One that is left at a question keeps waiting, and the next chat asks first.
  await screen.say("write f.txt");
  await screen.shows("│ path: f.txt");
  screen.type(CTRL_D);
  expect(await screen.exited).toBe(0);
  expect(screen.all).toContain("the session keeps waiting");
  await using next = openScreen(project);
  await next.shows("1 tool call of this session waits for your answer");
  next.type("n");
  await next.shows("why?");
  next.type("\r");
  await next.shows("After the tool: denied");
  next.type(CTRL_D);
  expect(await next.exited).toBe(0);
});

test("a question of a tool: a form, and a decline; one that is left waits for the next chat", async () => {
  await using project = await screenProject();
  await using screen = await screenIn(project);
  await screen.say("travel");
  await screen.shows("│ Where to?");
  screen.type("y");
  await screen.shows("city");
  screen.enter("Oslo");
  await screen.shows('After the tool: success accept {"city":"Oslo"}');
  await screen.say("travel");
  await screen.shows("│ Where to?");
  screen.type(CTRL_D);
  expect(await screen.exited).toBe(0);
  await using next = openScreen(project);
  await next.shows("1 tool call of this session waits for your answer");
  await next.shows("│ Where to?");
  next.type("n");
  await next.shows("After the tool: success decline null");
  next.type(CTRL_D);
  expect(await next.exited).toBe(0);
});

test("commands: sessions to pick from, copies, exports, the model, and one count of tokens", async () => {
  await using project = await screenProject();
  await using screen = await screenIn(project);
  await screen.say("about apples");
  await screen.shows("You said: about apples");
  await screen.say("/fork second");
  await screen.shows("session second of ada, agent tester: continues, 2 messages");
  await screen.shows(/second of ada[\s\S]*› about apples/u);
  await screen.say("/session pears");
  await screen.shows("session pears of ada, agent tester: new");
  await screen.say("about pears");
  await screen.shows("You said: about pears");
  await screen.say("/resume");
  await screen.shows("Continue which session?");
  await screen.shows("→ about pears");
  screen.type("apples default");
  await screen.until("one that fits", () => /→ about apples/u.test(screen.text));
  screen.type("\r");
  await screen.shows("session default of ada, agent tester: continues, 2 messages");
  await screen.say("/export");
  await screen.shows("Exported to default.md.");
  const exported = await readFile(join(project.path, "default.md"), "utf8");
  expect(exported).toContain("## user\n\nabout apples\n");
  await screen.say("/tokens");
  await screen.shows("since the start:");
  const last = (text: string): number => {
    const found = [...screen.all.matchAll(new RegExp(`${text}([\\d,]+)`, "gu"))].at(-1);
    return Number(found?.[1]?.replaceAll(",", ""));
  };
  const total = last("the next request: about ");
  const parts = ["system prompt +", "tools +", "messages +"].map((name) => last(` {2}${name}`));
  expect(parts.reduce((sum, part) => sum + part, 0)).toBe(total);
  for (const name of ["first", "second", "third"]) {
    await screen.say(`the ${name} ${"long story, ".repeat(50)}`);
    await screen.shows(`You said: the ${name}`);
    await screen.idle();
  }
  // What a compaction starts with is what the next request would have taken.
  await screen.say("/tokens");
  await screen.until("the count", () => screen.all.split("since the start:").length === 3);
  const before = last("the next request: about ").toLocaleString("en-US");
  await screen.say("/compact");
  await screen.shows(new RegExp(`Compacted \\d+ → \\d+ messages, ${before} → `, "u"));
  await screen.say("/model");
  await screen.shows("model test/screen, 100,000 tokens (");
  await screen.say("/model offline");
  await screen.shows("model offline-script, 128,000 tokens, from now on");
  await screen.shows("offline-script · default");
  await screen.say("/permissions mode accept_edits");
  await screen.shows("mode accept_edits");
  await screen.say("/help");
  await screen.shows("/export [file]");
  await screen.say("/plan");
  await screen.shows("plan mode is off");
  await screen.say("/tasks");
  await screen.shows("No task was given to a subagent in this session.");
  await screen.say("/nonsense");
  await screen.shows("There is no /nonsense");
  await screen.say("/exit");
  expect(await screen.exited).toBe(0);
});
