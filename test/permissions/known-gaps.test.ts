// What does not hold yet, as it is now. A test of these fails when its gap is closed: turn it round then, and move it.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tool } from "@holdfast/core";
import type { PermissionsOptions } from "@holdfast/permissions";
import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { approvalNodes } from "./approval-nodes.js";
import { newDesk, session, toolsOf } from "./desk.js";

describe("gap: a deny rule for a file", () => {
  async function outcomeOf(
    input: (files: string) => { command: string; working_directory?: string },
    options: PermissionsOptions = {},
  ) {
    const rules = { allow: ["execute(cat:*)"], deny: ["read_file(./sub/key)"] };
    const desk = await newDesk({ rules, ...options });
    await mkdir(join(desk.files, "sub"), { recursive: true });
    await writeFile(join(desk.files, "sub/key"), "SECRET");
    return desk.use({ name: "execute", input: input(desk.files) });
  }

  // The subject of `execute` does not tell the directory that the command starts in.
  test("does not hold for a command that starts in another directory", async () => {
    const outcome = await outcomeOf(() => ({ command: "cat < key", working_directory: "sub" }));
    expect(outcome).toEqual(["runs"]);
  });

  // The root is the current directory unless it is set, and one root cannot be the directory of every user.
  test("does not hold for the whole name of the file, without the option root", async () => {
    const outcome = await outcomeOf((files) => ({ command: `cat < ${files}/sub/key` }), {
      root: undefined,
    });
    expect(outcome).toEqual(["runs"]);
  });
});

describe("gap: a specifier for a tool without a subject that comes while the agent runs", () => {
  const fetches = tool({
    name: "files_fetch",
    description: "Fetches a file.",
    input: z.object({ path: z.string() }),
    execute: () => "fetched",
  });
  const plugins = [toolsOf(() => [fetches])];
  const call = { name: "files_fetch", input: { path: ".env" } };

  // Nothing is compared with it, so that the rule is void.
  test("in a deny rule lets the call run", async () => {
    const rules = { allow: ["files_*"], deny: ["files_fetch(./.env)"] };
    const desk = await newDesk({ rules }, { plugins });
    expect(await desk.use(call)).toEqual(["runs"]);
  });

  test("is remembered, and never allows anything", async () => {
    const desk = await newDesk({}, { plugins });
    const rules = [{ tool: "files_fetch", pattern: "./.env" }];
    await desk.approve(call, { scope: "session", rules });
    expect(await desk.agent.rememberedRules(session)).toEqual([{ ...rules[0], scope: "session" }]);
    expect(await desk.use(call)).toEqual(["asks"]);
  });
});

// With `persistence: "call"` nothing says that the tool was started, and the call still waits for an answer.
test("gap: an approved tool that ran when its process was killed runs again with the approval", async () => {
  await using nodes = await approvalNodes("files", 5_000);
  const asking = nodes.start({ hangs: true });
  await asking.use([{ name: "hang", input: { text: "now" } }]);
  const confirm = (await asking.pending()).map(({ toolCallId }) => ({ toolCallId, approve: true }));
  asking.send("call", { confirm }, { ...session, callId: "answer" });
  await eventually(async () => (await nodes.lines()).length === 1, { what: "the tool" });
  await asking.kill9();
  await nodes.start().confirm(confirm, { callId: "answer" });
  expect(await nodes.lines()).toEqual(["hang now", "hang now"]);
});
