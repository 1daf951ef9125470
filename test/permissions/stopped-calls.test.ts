import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tool } from "@holdfast/core";
import type { PermissionsOptions } from "@holdfast/permissions";
import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { approvalNodes } from "./approval-nodes.js";
import { newDesk, session, toolsOf } from "./desk.js";

describe("a deny rule for a file", () => {
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

  test("holds for a command that starts in another directory", async () => {
    const outcome = await outcomeOf(() => ({ command: "cat < key", working_directory: "sub" }));
    expect(outcome).toEqual(["denied"]);
  });

  test("asks about the whole name of the file, where the root is not known", async () => {
    const outcome = await outcomeOf((files) => ({ command: `cat < ${files}/sub/key` }), {
      root: undefined,
    });
    expect(outcome).toEqual(["asks"]);
  });
});

describe("a specifier for a tool without a subject that comes while the agent runs", () => {
  const fetches = tool({
    name: "files_fetch",
    description: "Fetches a file.",
    input: z.object({ path: z.string() }),
    execute: () => "fetched",
  });
  const plugins = [toolsOf(() => [fetches])];
  const call = { name: "files_fetch", input: { path: ".env" } };

  test("in a deny rule asks: nothing says that the call is not about it", async () => {
    const rules = { allow: ["files_*"], deny: ["files_fetch(./.env)"] };
    const desk = await newDesk({ rules }, { plugins });
    expect(await desk.use(call)).toEqual(["asks"]);
  });

  test("is remembered, and never allows anything", async () => {
    const desk = await newDesk({}, { plugins });
    const rules = [{ tool: "files_fetch", pattern: "./.env" }];
    await desk.approve(call, { scope: "session", rules });
    expect(await desk.agent.rememberedRules(session)).toEqual([{ ...rules[0], scope: "session" }]);
    expect(await desk.use(call)).toEqual(["asks"]);
  });
});

test("an approved tool that ran when its process was killed does not run again with the approval", async () => {
  await using nodes = await approvalNodes("files", 5_000);
  const asking = nodes.start({ hangs: true });
  await asking.use([{ name: "hang", input: { text: "now" } }]);
  const confirm = (await asking.pending()).map(({ toolCallId }) => ({ toolCallId, approve: true }));
  asking.send("call", { confirm }, { ...session, callId: "answer" });
  await eventually(async () => (await nodes.lines()).length === 1, { what: "the tool" });
  await asking.kill9();
  await nodes.start().confirm(confirm, { callId: "answer" });
  expect(await nodes.lines()).toEqual(["hang now"]);
});
