import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tempDirectory } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";

const program = fileURLToPath(new URL("../examples/approval/dist/main.js", import.meta.url));

/** Runs the example as one person would again and again, in a directory of the running test's own. */
async function newPerson() {
  const directory = await tempDirectory();
  onTestFinished(directory.cleanup);
  const { VITEST: _, ...env } = process.env;
  return (typed: readonly string[], ...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
      cwd: directory.path,
      env: { ...env, HOLDFAST_STATE_HOME: join(directory.path, "state") },
      input: typed.map((line) => `${line}\n`).join(""),
      encoding: "utf8",
      timeout: 300_000,
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const mails = [...stdout.matchAll(/^ {2}\* mail to (.*)$/gm)].map(([, mail]) => mail);
    return { stdout, mails, asked: stdout.match(/^send_mail /gm)?.length ?? 0 };
  };
}

test("a person approves, edits and rejects, and the model hears of it", async () => {
  const run = await newPerson();
  const { stdout, mails, asked } = run([
    "y",
    "e",
    "Friday at ten.",
    "n",
    "No press.",
    "what?",
    "y",
  ]);
  expect(mails).toEqual([
    "ann@example.com: The meeting is on Friday.",
    "bob@example.com: Friday at ten.",
    "ann@example.com: Please bring the figures.",
  ]);
  expect(asked).toBe(4);
  expect(stdout).toContain("3 mails were sent; 2 calls were denied.");
});

test("what a person remembers is not asked again, in this run and the next, until it is forgotten", async () => {
  const run = await newPerson();
  expect(run(["a", "n", "", "n", ""])).toMatchObject({ asked: 3, mails: { length: 2 } });
  expect(run(["n", "", "n", ""])).toMatchObject({ asked: 2, mails: { length: 2 } });
  expect(run([], "forget").stdout).toBe("forgotten: send_mail(ann@example.com)\n");
  expect(run([], "forget").stdout).toBe("");
  expect(run(["n", "", "n", "", "n", "", "n", ""])).toMatchObject({ asked: 4, mails: [] });
});

test("a person who leaves in the middle finds what was not answered in the next run", async () => {
  const run = await newPerson();
  const first = run(["y"]);
  expect(first.mails).toEqual(["ann@example.com: The meeting is on Friday."]);
  expect(first.stdout).toContain("still wait for you");
  const second = run(["n", "", "e"]);
  expect(second.stdout).toMatch(/^Calls of an earlier run still wait for you\.\n\nsend_mail .*bob/);
  expect(second.mails).toEqual([]);
  const third = run(["y", "n", ""]);
  expect(third.mails).toEqual(["press@example.org: The meeting is on Friday."]);
  expect(third.stdout).toContain("2 mails were sent; 3 calls were denied.");
});
