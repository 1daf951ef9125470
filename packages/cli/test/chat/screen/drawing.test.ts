import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CTRL_C, CTRL_D } from "../../support/pseudo-terminal.js";
import { screenIn, screenProject } from "../../support/screen-project.js";

const CTRL_O = "\u000f";
const MAGENTA = "\u001b[35m";

test("Markdown, tools, diffs, what is going on and what it costs are drawn as they come", async () => {
  await using project = await screenProject();
  await using screen = await screenIn(project);
  await screen.say("markdown");
  await screen.shows("The end.");
  expect(screen.text).toMatch(/^A heading$/mu);
  expect(screen.text).toMatch(/^Some bold words and a link \(https:\/\/example\.org\/x\)\.$/mu);
  expect(screen.text).toMatch(/^- one\n- two\n {2,4}- nested$/mu);
  // Columns stand below each other although some characters are two wide.
  const rows = screen.lines.filter((line) => line.startsWith("│"));
  expect(rows.map((line) => line.at(-1))).toEqual(["│", "│", "│"]);
  expect(rows.join("\n")).toContain("日本語");
  expect(screen.raw).toContain(`${MAGENTA}const`);

  await screen.say("until told");
  await screen.shows("I come");
  await screen.shows("∴ Let me see. … 1 more line");
  await screen.until("the time it takes", () => /Writing… [1-9]\d* s · /u.test(screen.text));
  await writeFile(join(project.path, "told"), "");
  await screen.shows("I come to an end.");
  await screen.hides("Writing…");

  await screen.say("count");
  await screen.shows("● count");
  await screen.shows("line 4\n    … 26 more lines (Ctrl-O opens)");
  await screen.shows("After the tool: success");
  expect(screen.all).not.toContain("line 30");
  screen.type(CTRL_O);
  await screen.shows("line 30");
  screen.type(CTRL_O);
  await screen.until("the short view", () => !screen.all.includes("line 30"));

  await screen.say("flaky");
  await screen.shows("does not count; asking again");
  await screen.shows("You said: flaky");
  expect(screen.all).not.toContain("half a rep");

  await screen.say("edit");
  await screen.shows("edit_file asks for your approval");
  await screen.shows("run edit_file?");
  screen.type("y");
  await screen.shows("● edit_file notes.txt");
  await screen.shows("- old line\n    + new line");
  await screen.shows("After the tool: success Replaced 1 occurrence");
  const notes = join(project.path, "workspace", "users", "ada", "notes.txt");
  expect(await readFile(notes, "utf8")).toBe("same\nnew line\nrest\n");
  await screen.shows(
    /test\/screen · default · 6 % of 100k · ↑[\d.]+k ↓[\d.]+k · \$0\.\d{4} · mode default/u,
  );

  // Narrow, then wide again: everything is drawn anew, and nothing twice.
  for (const [columns, rows] of [
    [36, 20],
    [110, 45],
  ] as const) {
    screen.resize(columns, rows);
    await screen.until("lines of the new width", () =>
      screen.lines.some((line) => line === "─".repeat(columns)),
    );
    await screen.until("one input", () => screen.all.split("─".repeat(columns)).length === 3);
    expect(screen.all.split("› markdown")).toHaveLength(2);
  }
  await screen.idle();
  screen.type(CTRL_C);
  await screen.shows("Ctrl-C again quits");
  screen.type(CTRL_C);
  expect(await screen.exited).toBe(0);
  // The input is gone, the conversation stays.
  expect(screen.text).not.toContain("mode default");
  expect(screen.all).toContain("After the tool: success Replaced 1 occurrence");
});

test("NO_COLOR leaves colours out, a light background changes them, and a resumed session shows what was said", async () => {
  await using project = await screenProject();
  await using plain = await screenIn(project, { env: { NO_COLOR: "1" } });
  await plain.say("markdown");
  await plain.shows("The end.");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is looked for
  expect(plain.raw).not.toMatch(/\u001b\[(?:3\d|9\d|4\d)m/u);
  plain.type(CTRL_D);
  expect(await plain.exited).toBe(0);
  await using light = await screenIn(project, {
    env: { COLORFGBG: "0;15" },
    columns: 30,
    rows: 20,
  });
  await light.shows("The end.");
  expect(light.all).toContain("› markdown");
  // Blue in place of cyan.
  expect(light.raw).toContain("\u001b[34m");
  expect(light.raw).not.toContain("\u001b[36m");
  light.type(CTRL_D);
  expect(await light.exited).toBe(0);
});
