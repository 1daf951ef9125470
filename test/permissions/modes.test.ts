import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type PermissionMode, tool } from "@holdfast/core";
import type { ScriptedToolCall } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { newDesk, session } from "./desk.js";

const reads = { name: "read_file", input: { path: "notes.txt" } };
const writes = { name: "write_file", input: { path: "new.txt", content: "x" } };
const edits = {
  name: "edit_file",
  input: { path: "notes.txt", old_string: "old", new_string: "new" },
};
const executes = { name: "execute", input: { command: "touch made.txt" } };
const sends = { name: "send", input: {} };

/** A desk with a file to read and to edit. */
async function deskWithNotes(...options: Parameters<typeof newDesk>) {
  const desk = await newDesk(...options);
  await mkdir(desk.files, { recursive: true });
  await writeFile(join(desk.files, "notes.txt"), "old");
  return desk;
}

const table = [
  ["default", "runs", "asks", "asks", "asks", "asks"],
  ["accept_edits", "runs", "runs", "runs", "asks", "asks"],
  ["explore", "runs", "denied", "denied", "denied", "denied"],
  ["bypass", "runs", "runs", "runs", "runs", "runs"],
  ["dont_ask", "runs", "denied", "denied", "denied", "denied"],
] as const satisfies readonly (readonly [PermissionMode, ...string[]])[];

describe.each(table)("mode %s", (mode, ...expected) => {
  test(`as an option: read, write, edit, execute, send: ${expected.join(", ")}`, async () => {
    const desk = await deskWithNotes({ mode });
    expect(await desk.use(reads, writes, edits, executes, sends)).toEqual(expected);
    const isWritten = expected[1] === "runs";
    expect(existsSync(join(desk.files, "new.txt"))).toBe(isWritten);
    expect(await readFile(join(desk.files, "notes.txt"), "utf8")).toBe(isWritten ? "new" : "old");
    expect(existsSync(join(desk.files, "made.txt"))).toBe(expected[3] === "runs");
  });

  test("set for the session does the same, whatever the option says, and leaves other sessions alone", async () => {
    const option = mode === "bypass" ? "explore" : "bypass";
    const desk = await deskWithNotes({ mode: option });
    const before = option === "bypass" ? "runs" : "denied";
    expect(await desk.use(sends)).toEqual([before]);
    await desk.agent.setPermissionMode(session, mode);
    expect(await desk.use(reads, writes, edits, executes, sends)).toEqual(expected);
    const other = { ...session, sessionId: "other" };
    const reply = await desk.agent.call(JSON.stringify([sends]), other);
    expect(reply.reason).toBe("stop");
    expect((await desk.agent.getAgentState(other))?.permissionContext.mode).toBe("default");
  });
});

test("a session is set back to default though the option's mode is another", async () => {
  const desk = await deskWithNotes({ mode: "bypass" });
  await desk.agent.setPermissionMode(session, "explore");
  expect(await desk.use(sends)).toEqual(["denied"]);
  await desk.agent.setPermissionMode(session, "default");
  expect(await desk.use(sends, reads)).toEqual(["asks", "runs"]);
});

test("a mode takes effect on calls that ask already: an approval does not pass explore", async () => {
  const desk = await deskWithNotes();
  const reply = await desk.ask(writes);
  const pending = "pending" in reply ? reply.pending : [];
  expect(pending).toHaveLength(1);
  await desk.agent.setPermissionMode(session, "explore");
  const confirm = pending.map(({ toolCallId }) => ({ toolCallId, approve: true }));
  expect((await desk.agent.call({ confirm }, session)).text).toBe("done");
  expect(existsSync(join(desk.files, "new.txt"))).toBe(false);
});

describe("explore", () => {
  test("lets no write reach the disk, through no tool and no form of command, whatever rules allow", async () => {
    const desk = await deskWithNotes({
      mode: "explore",
      rules: { allow: ["write_file", "edit_file", "execute", "execute(touch:*)"] },
    });
    const commands = [
      "touch a",
      "echo x > a",
      "cat notes.txt",
      "true & touch a",
      "ls\ntouch a",
      "$(touch a)",
      "sh -c 'touch a'",
      "git init .",
      "cp notes.txt a",
      "tee a < notes.txt",
    ];
    const calls: readonly ScriptedToolCall[] = [
      writes,
      edits,
      { name: "write_file", input: { path: "notes.txt", content: "x" } },
      ...commands.map((command) => ({ name: "execute", input: { command } })),
    ];
    expect(await desk.use(...calls)).toEqual(calls.map(() => "denied"));
    expect(await readdir(desk.files)).toEqual(["notes.txt"]);
    expect(await readFile(join(desk.files, "notes.txt"), "utf8")).toBe("old");
  });
});

describe("accept_edits", () => {
  test("accepts edits in the working directories alone", async () => {
    const desk = await deskWithNotes({ mode: "accept_edits", workingDirectories: ["src"] });
    const write = (path: string) => ({ name: "write_file", input: { path, content: "x" } });
    const paths = ["src/a.ts", "a.ts", "src/../b.ts", "srcs/c.ts"];
    expect(await desk.use(...paths.map(write))).toEqual(["runs", "asks", "asks", "asks"]);
    expect((await readdir(desk.files)).sort()).toEqual(["notes.txt", "src"]);
    await desk.agent.updateAgentState(session, (state) => {
      state.permissionContext.workingDirectories = ["docs"];
    });
    expect(await desk.use(write("docs/a.md"))).toEqual(["runs"]);
  });
});

describe("needsApproval", () => {
  const pay = tool({
    name: "pay",
    description: "Pays.",
    input: z.object({ amount: z.number() }),
    needsApproval: ({ amount }) => amount > 100,
    execute: () => "paid",
  });
  const paying = (amount: number) => ({ name: "pay", input: { amount } });

  test.each([
    ["default", ["pay"], "runs", "asks"],
    ["default", [], "asks", "asks"],
    ["accept_edits", ["pay"], "runs", "asks"],
    ["explore", ["pay"], "denied", "denied"],
    ["bypass", [], "runs", "runs"],
    ["dont_ask", ["pay"], "runs", "denied"],
  ] as const)(
    "in mode %s with %j allowed: a small payment %s, a large one %s",
    async (mode, allow, small, large) => {
      const desk = await newDesk({ mode, rules: { allow } }, { tools: [pay] });
      expect(await desk.use(paying(5), paying(500))).toEqual([small, large]);
    },
  );

  test("is answered for good by a rule that a person remembers", async () => {
    const desk = await newDesk({ rules: { allow: ["pay"] } }, { tools: [pay] });
    await desk.approve(paying(500), "session");
    expect(await desk.use(paying(600))).toEqual(["runs"]);
  });
});
